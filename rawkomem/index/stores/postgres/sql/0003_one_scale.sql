-- Importance in the numbers that the rest of rawkomem gives to neolata (state/strength.py); and no reader is the agent
-- of memories that nobody signed, whatever a token says.

CREATE FUNCTION importance_number(importance smallint) RETURNS double precision IMMUTABLE LANGUAGE sql
RETURN (ARRAY[0.4, 0.7, 0.85, 1.0]::double precision[])[importance + 1];

CREATE OR REPLACE FUNCTION current_agent() RETURNS text STABLE SECURITY DEFINER LANGUAGE sql SET search_path FROM CURRENT
RETURN lower(nullif(coalesce((SELECT a.agent FROM agents a WHERE a.role = session_user),
                             nullif(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'agent_id', ''),
                             nullif(current_setting('rawkomem.agent', true), '')), ''));

CREATE OR REPLACE VIEW remembered WITH (security_invoker) AS
SELECT l.id::text AS id,
       l.said_by AS agent_id,
       (SELECT string_agg(p.text, E'\n\n' ORDER BY p.number) FROM passages p
         WHERE p.version = l.n AND p.field = 'body') AS content,
       nullif(l.said_category, '') AS category,
       l.said_tags AS tags,
       (SELECT l2_normalize(avg(x.vector::vector)) FROM vectors x JOIN passages p
            ON p.version = x.owner AND p.number = x.number
         WHERE x.owner = l.n AND p.field = 'body') AS embedding,
       importance_number(l.importance) AS importance,
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

CREATE OR REPLACE FUNCTION neolata.search_memories_semantic(
    query_embedding vector, agent_filter text, match_count integer DEFAULT 10,
    similarity_threshold double precision DEFAULT 0.5)
RETURNS TABLE (id text, agent_id text, content text, category text, tags text[], importance double precision,
               created_at timestamptz, repository text, similarity double precision)
STABLE LANGUAGE sql BEGIN ATOMIC
    SELECT l.id::text, l.said_by, best.text, nullif(l.said_category, ''), l.said_tags, importance_number(l.importance),
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
