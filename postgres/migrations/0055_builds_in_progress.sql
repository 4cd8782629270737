-- Looked for in each round of folds. There are few, among the builds of all workspaces.
CREATE INDEX figure_builds_building ON figure_builds (build) WHERE state = 'building';
