-- wrk's own percentiles as one line of JSON on standard error, times in microseconds.
done = function(summary, latency, requests)
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"requests": %d, "duration_us": %d, "p50_us": %.1f, "p99_us": %.1f, "p999_us": %.1f, "max_us": %.1f, '
    .. '"errors": %d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    latency.max, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
