-- Who pushed, from where, and how much.
ALTER TABLE airlock.actions
    -- What the host called the plugin; null in rows of an older version.
    ADD COLUMN plugin_name text,
    ADD COLUMN source_is_own_tool boolean NOT NULL DEFAULT false,
    ADD COLUMN workspace_identity text,
    -- Of the label, the details and the state, as they were pushed.
    ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE airlock.sessions ADD COLUMN bytes bigint NOT NULL DEFAULT 0;

UPDATE airlock.actions AS a SET
    plugin_name = (SELECT name FROM airlock.plugins AS p WHERE p.digest = a.plugin),
    bytes = octet_length(label) + coalesce(octet_length(details), 0) + coalesce(octet_length(guest_state), 0)
    WHERE open;
UPDATE airlock.sessions AS s SET bytes = held.bytes
    FROM (SELECT session, sum(bytes) AS bytes FROM airlock.actions WHERE open GROUP BY session) AS held
    WHERE s.key = held.session;

COMMENT ON COLUMN airlock.sessions.bytes IS 'Of the open actions: like the column open, no fewer than there are';
