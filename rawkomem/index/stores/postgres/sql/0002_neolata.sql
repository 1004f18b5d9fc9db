-- neolata's tables and search functions as views over ours, for programs that speak them; and who may read what.
--
-- A view shows what the index was told. What only the files know (claims, links that people wrote, episodes' members,
-- votes) is NULL or empty here; docs/postgres.md says which columns are derived, and how. All ask with the rights of
-- their reader, so that row-level security holds through them.

-- Who reads: the agent that the database binds the role to; else the one that a signed token names (PostgREST, which
-- Supabase runs, hands its claims over); else the one that the session says it is.
CREATE TABLE agents (
    role  name PRIMARY KEY,
    agent text NOT NULL
);

CREATE FUNCTION current_agent() RETURNS text STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN lower(coalesce((SELECT a.agent FROM agents a WHERE a.role = session_user),
                      nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'agent_id',
                      nullif(current_setting('rawkomem.agent', true), '')));

ALTER TABLE agents ENABLE ROW LEVEL SECURITY;
ALTER TABLE repositories ENABLE ROW LEVEL SECURITY;
ALTER TABLE clones ENABLE ROW LEVEL SECURITY;
ALTER TABLE versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE passages ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
ALTER TABLE arounds ENABLE ROW LEVEL SECURITY;
ALTER TABLE depths ENABLE ROW LEVEL SECURITY;
ALTER TABLE deep_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE holdings ENABLE ROW LEVEL SECURITY;

-- A table without a policy shows nothing. The owner of the tables, who is the one that writes, is bound by none.
CREATE POLICY own ON versions FOR SELECT USING (agent = (SELECT current_agent()));
CREATE POLICY own ON passages FOR SELECT USING (EXISTS (SELECT FROM versions v WHERE v.n = version));
CREATE POLICY own ON vectors FOR SELECT USING (EXISTS (SELECT FROM versions v WHERE v.n = owner));
CREATE POLICY own ON holdings FOR SELECT USING (EXISTS (SELECT FROM versions v WHERE v.n = version));
CREATE POLICY names ON repositories FOR SELECT USING (true);
CREATE POLICY names ON clones FOR SELECT USING (true);

-- One version of each memory: the last that came of those that are held; of one clone, where the session names it.
CREATE VIEW latest WITH (security_invoker) AS
SELECT DISTINCT ON (v.repository, v.id) v.*, r.name AS repository_name
  FROM versions v
  JOIN holdings h ON h.version = v.n
  JOIN clones c ON c.n = h.clone
  JOIN repositories r ON r.n = v.repository
 WHERE c.name = coalesce(nullif(current_setting('rawkomem.clone', true), ''), c.name)
   AND r.name = coalesce(nullif(current_setting('rawkomem.repository', true), ''), r.name)
 ORDER BY v.repository, v.id, v.n DESC;

CREATE VIEW remembered WITH (security_invoker) AS
SELECT l.id::text AS id,
       l.said_by AS agent_id,
       (SELECT string_agg(p.text, E'\n\n' ORDER BY p.number) FROM passages p
         WHERE p.version = l.n AND p.field = 'body') AS content,
       nullif(l.said_category, '') AS category,
       l.said_tags AS tags,
       (SELECT l2_normalize(avg(x.vector::vector)) FROM vectors x JOIN passages p
            ON p.version = x.owner AND p.number = x.number
         WHERE x.owner = l.n AND p.field = 'body') AS embedding,
       l.importance / 3.0::float8 AS importance,
       0 AS access_count,
       to_timestamp(l.created / 1000.0) AS created_at,
       to_timestamp(l.created / 1000.0) AS updated_at,
       NULL::jsonb AS claim,
       NULL::jsonb AS provenance,
       NULL::float8 AS confidence,
       l.status,
       CASE WHEN l.status = 'quarantined' THEN jsonb_build_object('status', l.status) END AS quarantine,
       0 AS reinforcements,
       0 AS disputes,
       NULL::text AS superseded_by,
       NULL::text[] AS supersedes,
       l.repository_name AS repository,
       l.kind,
       l.title,
       l.entities,
       l.session
  FROM latest l;

CREATE SCHEMA neolata;

CREATE VIEW neolata.memories WITH (security_invoker) AS
SELECT * FROM remembered WHERE status <> 'archived' AND kind <> 'episode';

CREATE VIEW neolata.memory_archive WITH (security_invoker) AS
SELECT * FROM remembered WHERE status = 'archived' AND kind <> 'episode';

-- The five closest above 0.5, as neolata links a new memory.
CREATE VIEW neolata.memory_links WITH (security_invoker) AS
SELECT m.id AS source_id, o.id AS target_id, o.similarity, m.created_at, m.repository
  FROM neolata.memories m
 CROSS JOIN LATERAL (
       SELECT other.id, CASE WHEN vector_dims(other.embedding) = vector_dims(m.embedding)
                             THEN 1 - (other.embedding <=> m.embedding) END AS similarity
         FROM neolata.memories other
        WHERE other.repository = m.repository AND other.id <> m.id AND other.status = 'active'
        ORDER BY similarity DESC NULLS LAST, other.id LIMIT 5) o
 WHERE m.status = 'active' AND o.similarity > 0.5;

CREATE VIEW neolata.pending_conflicts WITH (security_invoker) AS
SELECT 'pending:' || id AS id, id AS new_id, NULL::text AS existing_id, agent_id, status AS reason, created_at, repository
  FROM remembered WHERE status IN ('quarantined', 'disputed', 'conflicted');

CREATE VIEW neolata.episodes WITH (security_invoker) AS
SELECT id, title AS name, agent_id, content AS summary, tags, created_at, '{}'::text[] AS memory_ids, repository
  FROM remembered WHERE kind = 'episode';

-- Memories that name the same person, project or feature.
CREATE VIEW neolata.memory_clusters WITH (security_invoker) AS
SELECT md5(repository || E'\n' || entity) AS id, entity AS label, array_agg(id ORDER BY id) AS memory_ids,
       count(*) AS size, min(created_at) AS created_at, repository
  FROM remembered, unnest(entities) AS entity
 WHERE status = 'active'
 GROUP BY repository, entity HAVING count(*) > 1;

CREATE FUNCTION neolata.search_memories_semantic(
    query_embedding vector, agent_filter text, match_count integer DEFAULT 10,
    similarity_threshold double precision DEFAULT 0.5)
RETURNS TABLE (id text, agent_id text, content text, category text, tags text[], importance double precision,
               created_at timestamptz, repository text, similarity double precision)
STABLE LANGUAGE sql BEGIN ATOMIC
    SELECT l.id::text, l.said_by, best.text, nullif(l.said_category, ''), l.said_tags, l.importance / 3.0::float8,
           to_timestamp(l.created / 1000.0), l.repository_name, best.similarity
      FROM latest l
     CROSS JOIN LATERAL (
           SELECT p.text, CASE WHEN x.dims = vector_dims(query_embedding)
                               THEN 1 - (x.vector::vector <=> query_embedding) END AS similarity
             FROM vectors x JOIN passages p ON p.version = x.owner AND p.number = x.number
            WHERE x.owner = l.n AND p.field = 'body'
            ORDER BY similarity DESC NULLS LAST, p.number LIMIT 1) best
     WHERE l.status = 'active' AND l.kind <> 'episode' AND best.similarity >= similarity_threshold
       AND (agent_filter IS NULL OR l.agent = lower(agent_filter))
     ORDER BY best.similarity DESC, l.id LIMIT match_count;
END;

CREATE FUNCTION neolata.search_memories_global(
    query_embedding vector, match_count integer DEFAULT 10, similarity_threshold double precision DEFAULT 0.5)
RETURNS TABLE (id text, agent_id text, content text, category text, tags text[], importance double precision,
               created_at timestamptz, repository text, similarity double precision)
STABLE LANGUAGE sql BEGIN ATOMIC
    SELECT * FROM neolata.search_memories_semantic(query_embedding, NULL, match_count, similarity_threshold);
END;
