-- Profiles are generated in the order in which they were asked for: asking again goes to the back.
ALTER TABLE company_profiles ADD COLUMN requested_at timestamptz NOT NULL DEFAULT now();
DROP INDEX company_profiles_generating;
CREATE INDEX company_profiles_generating ON company_profiles (requested_at) WHERE status = 'generating';
