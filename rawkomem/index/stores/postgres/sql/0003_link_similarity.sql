-- neolata's column memory_links.similarity: how close two memories are, as close_memories computes it. NULL if one of
-- them has no vector. It is computed only for rows whose similarity is asked for.
CREATE OR REPLACE VIEW neolata.memory_links WITH (security_invoker) AS
SELECT r.source_id, r.target_id, r.type, to_timestamp(r.created / 1000.0) AS created_at, r.repository_name AS repository,
       (SELECT 1 - (s.embedding <=> t.embedding)
          FROM remembered s JOIN remembered t ON t.repository = s.repository
         WHERE s.repository = r.repository_name AND s.id = r.source_id AND t.id = r.target_id
           AND vector_dims(s.embedding) = vector_dims(t.embedding)) AS similarity
  FROM referred r;
