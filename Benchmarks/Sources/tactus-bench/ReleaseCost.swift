import CBench
import Tactus

/// cost past N | cost sleep N PERIOD_NS FIFO CPU: the lane thread's processor time for each release of an empty tick.
///
/// `past` is for the preloaded null kernel, on which a sleep returns at once.
enum ReleaseCost {
  static func run(_ arguments: Arguments) throws {
    let releases = arguments.int(1)
    let result = Window(releases: releases)
    let scheduling: Scheduling
    let cpu: Int?
    let period: Nanoseconds
    switch arguments.word(0) {
    case "past": (scheduling, cpu, period) = (.normal, nil, .milliseconds(1))
    case "sleep":
      (scheduling, cpu, period) =
        (.fifo(arguments.int(3)), arguments.int(4), .nanoseconds(Int64(arguments.int(2))))
    default: arguments.fail()
    }
    let runtime = try Runtime(strict: true) {
      Lane("bench", scheduling: scheduling, cpu: cpu) {
        Loop("empty", every: .period(period)) { Timed(window: result) }
      }
    }
    try runtime.start()
    result.done.await()
    runtime.stop()
    let used = Double(result.values[1] - result.values[0]) / Double(releases)
    print("{\"processor_ns\": \(used)}")
  }

  private struct Timed: ControlLoop, NoOutput {
    let window: Window
    var ran = 0

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      if ran == window.first { window.values[0] = bench_processor_time() }
      if ran == window.last {
        window.values[1] = bench_processor_time()
        window.done.signal()
        // The runtime is stopped meanwhile: no uncounted number of ticks follows, which would blur the instructions.
        bench_pause(200)
      }
      ran &+= 1
    }
  }
}

/// calls N FIFO CPU: allocations and locks that the preloaded library counted over N releases at 20 kHz.
enum ReleaseCalls {
  static func run(_ arguments: Arguments) throws {
    let releases = arguments.int(0)
    let window = Window(releases: releases)
    let runtime = try Runtime(strict: true) {
      Lane("bench", scheduling: .fifo(arguments.int(1)), cpu: arguments.int(2)) {
        Loop("empty", every: .hertz(20_000)) { Counted(window: window) }
      }
    }
    try runtime.start()
    window.done.await()
    runtime.stop()
    let values = window.values
    print("{\"allocations\": \(values[1] - values[0]), \"locks\": \(values[3] - values[2]), \"releases\": \(releases)}")
  }

  private struct Counted: ControlLoop, NoOutput {
    let window: Window
    var ran = 0

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      if ran == window.first {
        window.values[0] = Int64(bench_counted_allocations())
        window.values[2] = Int64(bench_counted_locks())
      }
      if ran == window.last {
        window.values[1] = Int64(bench_counted_allocations())
        window.values[3] = Int64(bench_counted_locks())
        window.done.signal()
      }
      ran &+= 1
    }
  }
}

/// The ticks between which something is counted, after a warm-up, and room for what was.
struct Window {
  let first = 1_000
  let last: Int
  let values: UnsafeMutablePointer<Int64>
  let done = Completion()

  init(releases: Int) {
    last = first + releases
    values = .allocate(capacity: 4)
    values.initialize(repeating: 0, count: 4)
  }
}
