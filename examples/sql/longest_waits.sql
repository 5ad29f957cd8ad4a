-- Collectives with the longest waits: total and longest wait of the ranks, and the rank for which they waited
-- (the rank that waited least, or the lowest one of several).
-- Standard SQL over the table `collectives` of a dataset (rankscope export --parquet).
SELECT w.run, w.collective_id, w.name, w.mib, w.ranks, w.wait_ms, w.longest_wait_ms,
  min(c.rank) AS waited_for
FROM (
  SELECT run, collective_id, min(name) AS name, max(mib) AS mib, count(*) AS ranks,
    sum(wait_ns) / 1e6 AS wait_ms, max(wait_ns) / 1e6 AS longest_wait_ms,
    min(wait_ns) AS least_wait_ns
  FROM collectives
  WHERE wait_ns IS NOT NULL
  GROUP BY run, collective_id
) AS w
JOIN collectives AS c
  ON c.run = w.run AND c.collective_id = w.collective_id AND c.wait_ns = w.least_wait_ns
GROUP BY w.run, w.collective_id, w.name, w.mib, w.ranks, w.wait_ms, w.longest_wait_ms
ORDER BY wait_ms DESC, w.run, w.collective_id
LIMIT 20
