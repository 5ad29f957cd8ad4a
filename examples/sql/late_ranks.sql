-- Ranks for which other ranks wait: the rank that enters a collective last waits least in it. `times_last` is
-- the number of collectives that the rank entered last, of `collectives`. `wait_ms` is the rank's own wait.
-- Standard SQL over the table `collectives` of a dataset (rankscope export --parquet).
SELECT run, rank, count(*) AS collectives,
  sum(CASE WHEN wait_ns = least_wait_ns THEN 1 ELSE 0 END) AS times_last,
  sum(wait_ns) / 1e6 AS wait_ms
FROM (
  SELECT run, rank, wait_ns,
    min(wait_ns) OVER (PARTITION BY run, collective_id) AS least_wait_ns
  FROM collectives
  WHERE wait_ns IS NOT NULL
) AS waits
GROUP BY run, rank
ORDER BY run, times_last DESC, wait_ms, rank
