-- Of each vector one bit for each dimension, written with it: a question compares the bits of all, then the vectors of the
-- best (postgres/bits.py). It takes the place of HNSW, whose build took most of the time of a fill.

DO $$
DECLARE
    old text;
BEGIN
    FOR old IN SELECT indexname FROM pg_indexes
                WHERE schemaname = 'rawkomem' AND indexname ~ '^(deep_)?vectors_of_\d+_in_\d+$' LOOP
        EXECUTE format('DROP INDEX rawkomem.%I', old);
    END LOOP;
END $$;

CREATE TABLE bits (
    repository integer NOT NULL,
    dims       integer NOT NULL,
    owner      bigint NOT NULL,
    number     integer NOT NULL,
    bits       bit varying NOT NULL,
    PRIMARY KEY (repository, dims, owner, number)
);
CREATE TABLE deep_bits (LIKE bits INCLUDING ALL);
ALTER TABLE bits ALTER bits SET STATISTICS 0, ENABLE ROW LEVEL SECURITY;
ALTER TABLE deep_bits ALTER bits SET STATISTICS 0, ENABLE ROW LEVEL SECURITY;

-- A vector that is gone leaves no bits behind.
CREATE FUNCTION forget_bits() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_TABLE_NAME = 'vectors' THEN
        DELETE FROM bits b USING gone g
         WHERE (b.repository, b.dims, b.owner, b.number) = (g.repository, g.dims, g.owner, g.number);
    ELSE
        DELETE FROM deep_bits b USING gone g
         WHERE (b.repository, b.dims, b.owner, b.number) = (g.repository, g.dims, g.owner, g.number);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER vectors_deleted AFTER DELETE ON vectors
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_bits();
CREATE TRIGGER deep_vectors_deleted AFTER DELETE ON deep_vectors
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_bits();

-- Rows of before have no bits: every clone fills its part again with its next command.
DELETE FROM clones;
