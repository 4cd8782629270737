/** Tells a model about the tools as a whole, in `initialize`. Advice on one tool stands in its description. */
export const mcpInstructions = `One workspace of a social publishing and web analytics service: the one that the API key belongs to.

- To publish: svc.list_social_accounts and svc.list_media for ids, svc.preview_post until it is valid, svc.create_post for a draft, then svc.schedule_post. Nothing is published before it is scheduled.
- For figures: svc.analytics_overview. Ask for the members that you need with include: the whole answer is long. For channels, campaigns, entry or exit pages, or systems: svc.analytics_breakdown. For events by name: svc.analytics_events; for steps in order: svc.analytics_funnel; for who came back: svc.get_retention.
- Goals, notes, segments, saved funnels, exclusions, pages, page flow and search terms (analytics); feeds, snippets, posting times, approval (publishing); short domains and many links at once (links) are tools of toolsets. The address of this server asks for them: ?toolsets=analytics,publishing,links.
- Lists are newest first and come as {"items": […]}. Give a small limit, and page back with before_id: the id of the last row.
- Schemas say each thing once. An output that names another tool has that tool's members too. An argument is described in the first tool that takes it. An object with an id has object_id too: its type and its id. An argument for an id takes either, except actor_id, which is a number.
- Times are RFC 3339; without an offset they are in the workspace's timezone, which svc.get_workspace names. Money is in cents.
- Tools that change something take idempotency_key. Give each intended change a key of its own, and repeat the same call with it when you don't know whether it was done.
- A result with isError says in "detail" what to mend: "loc" ends in the argument at fault. Error -32003: the API key lacks a scope, which only its owner can change. Error -32009: the idempotency_key was used for another call, or that call is still running.`
