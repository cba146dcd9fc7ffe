import CTactus
import Glibc
import Logging
import Service
import Tactus

// service-bench PORT DOCUMENT RATE SECONDS OUT FIFO CPU: one process with the service, answering GET /api/document with the
// file's bytes, and one lane. Says "ready" when it listens, runs the lane for SECONDS when it is sent a line, says "done" when
// the latencies of all releases are in OUT, raw 64-bit nanoseconds, and serves on until its input ends.
//
// Part of the main package, not of Benchmarks: it needs the service, whose dependencies are then built once, not twice.

let words = CommandLine.arguments.dropFirst().map { $0 }
guard words.count == 7, let port = UInt16(words[0]), let rate = Int(words[2]), let seconds = Int(words[3]),
  let priority = Int(words[5]), let cpu = Int(words[6])
else { fail(64, "expected PORT DOCUMENT RATE SECONDS OUT FIFO CPU") }

let samples = LatencySamples(capacity: rate * seconds)
let service = try startService(port: port, document: contents(of: words[1]))
let runtime = try Runtime(strict: true) {
  Lane("bench", scheduling: .fifo(priority), cpu: cpu) {
    Loop("sampling", every: .hertz(Double(rate))) { Sampling(samples: samples) }
  }
}
say("ready\n")
_ = readLine()
try runtime.start()
var alarm = pollfd(fd: -1, events: 0, revents: 0)
poll(&alarm, 1, Int32(seconds * 1000 + 50))
runtime.stop()
samples.write(to: words[4])
say("done\n")
_ = readLine()
service.stop()

func startService(port: UInt16, document: [UInt8]) throws -> WebService {
  let now: @Sendable () -> TickInstant = { MonotonicClock.now }
  let accessControl = AccessControl(rules: try HostRules(), tokens: NoTokens(), isOpen: true, now: now)
  let route = Route("/api/document", PreparedDocument(version: { 0 }, make: { document }))
  let service = WebService(
    configuration: ServiceConfiguration(port: port, version: "bench"), accessControl: accessControl, systems: [],
    routes: [route],
    logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
  try service.start()
  return service
}

/// Nobody shows one here.
struct NoTokens: TokenVerifier {
  func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> { .failure(.invalid) }
}

/// Takes the sample that `tactus-bench release lane` takes.
struct Sampling: ControlLoop, NoOutput {
  let samples: LatencySamples

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    samples.append(tactus_monotonic_now() &- tick.scheduled.nanoseconds)
  }
}

/// Room that is made and touched before the measurement, written by one thread. Lives as long as the program.
struct LatencySamples: @unchecked Sendable {  // one lane writes, the main thread reads when the lane has ended
  private let values: UnsafeMutablePointer<Int64>
  private let taken: UnsafeMutablePointer<Int>
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    values = .allocate(capacity: capacity)
    values.initialize(repeating: 0, count: capacity)
    taken = .allocate(capacity: 1)
    taken.initialize(to: 0)
  }

  @_noLocks @_noAllocation @inline(__always)
  func append(_ value: Int64) {
    guard taken.pointee < capacity else { return }
    values[taken.pointee] = value
    taken.pointee &+= 1
  }

  func write(to path: String) {
    guard let file = fopen(path, "wb"), fwrite(values, 8, taken.pointee, file) == taken.pointee, fclose(file) == 0
    else { fail(1, "\(path) cannot be written") }
  }
}

func contents(of path: String) -> [UInt8] {
  guard let file = fopen(path, "rb") else { fail(1, "\(path) cannot be read") }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 1 << 20)
  let count = fread(&bytes, 1, bytes.count, file)
  return Array(bytes.prefix(count))
}

func say(_ text: String) { _ = write(1, text, text.utf8.count) }

func fail(_ status: Int32, _ reason: String) -> Never {
  let message = "service-bench: \(reason)\n"
  _ = write(2, message, message.utf8.count)
  exit(status)
}
