-- What actions have spent of budgets. Who spends from an account changes its row first, so that they come one after the other. The
-- key is a digest of the name, which may be longer than an index takes.
CREATE TABLE airlock.accounts (
    key bytea PRIMARY KEY,
    name text NOT NULL,
    turns bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE airlock.spendings (
    account bytea NOT NULL,
    action text COLLATE "C" NOT NULL,
    files bigint NOT NULL,
    bytes bigint NOT NULL,
    deletions bigint NOT NULL,
    spent_at timestamptz NOT NULL,
    -- It is forgotten then.
    kept_until timestamptz NOT NULL,
    PRIMARY KEY (account, action)
);
CREATE INDEX spendings_of_accounts ON airlock.spendings (account, spent_at);

-- A function, since each of its statements sees what was committed before it began: also what was while it waited for its turn.
CREATE FUNCTION airlock.spend(
    of_account bytea, of_name text, of_action text, more_files bigint, more_bytes bigint, more_deletions bigint,
    most_files bigint, most_bytes bigint, most_deletions bigint, within interval, kept interval,
    OUT recorded boolean, OUT files bigint, OUT bytes bigint, OUT deletions bigint
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    now timestamptz;
BEGIN
    INSERT INTO airlock.accounts AS a (key, name, turns) VALUES (of_account, of_name, 1)
        ON CONFLICT (key) DO UPDATE SET turns = a.turns + 1;
    now := clock_timestamp();
    -- The index finds what is older than anything must be kept.
    DELETE FROM airlock.spendings AS s
        WHERE s.account = of_account AND s.spent_at <= now - interval '1 day' AND s.kept_until <= now;
    -- The clock was set back: it counts as if it had been spent just now.
    UPDATE airlock.spendings AS s SET spent_at = now, kept_until = now + (s.kept_until - s.spent_at)
        WHERE s.account = of_account AND s.spent_at > now;
    SELECT least(coalesce(sum(greatest(s.files, 0)), 0), 9223372036854775807),
            least(coalesce(sum(greatest(s.bytes, 0)), 0), 9223372036854775807),
            least(coalesce(sum(greatest(s.deletions, 0)), 0), 9223372036854775807)
        INTO files, bytes, deletions
        FROM airlock.spendings AS s
        WHERE s.account = of_account AND s.spent_at > now - within AND s.action <> of_action;
    recorded := (more_files = 0 OR most_files IS NULL OR files::numeric + more_files <= most_files)
        AND (more_bytes = 0 OR most_bytes IS NULL OR bytes::numeric + more_bytes <= most_bytes)
        AND (more_deletions = 0 OR most_deletions IS NULL OR deletions::numeric + more_deletions <= most_deletions);
    IF recorded THEN
        DELETE FROM airlock.spendings AS s WHERE s.account = of_account AND s.action = of_action;
        INSERT INTO airlock.spendings
            VALUES (of_account, of_action, more_files, more_bytes, more_deletions, now, now + kept);
    END IF;
END $$;

-- What is open of a workspace. A path may be longer than an index takes.
CREATE INDEX actions_of_workspaces ON airlock.actions (sha256(workspace)) WHERE open AND workspace IS NOT NULL;
