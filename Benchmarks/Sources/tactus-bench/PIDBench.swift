import CBench
import Tactus

/// pid tick SECONDS CONTROLLERS CONDITIONAL OUT FIFO CPU | pid run BATCHES CONDITIONAL OUT CPU: ns of a PID step, three kinds.
///
/// `tick`: a 1 kHz lane whose tick steps so many controllers of each kind, one kind after the other in an order that changes from
/// tick to tick, with a clock read between; a sample is one kind's time in one tick. `run`: one controller of each kind, a sample is
/// 4,096 steps at full speed, the kinds by turns. OUT.swift, OUT.c, OUT.toolbox get the samples.
enum PIDBench {
  static func run(_ arguments: Arguments) throws {
    switch arguments.word(0) {
    case "tick":
      try tick(
        seconds: arguments.int(1), count: arguments.int(2), isConditional: arguments.int(3) != 0,
        out: arguments.word(4), priority: arguments.int(5), cpu: arguments.int(6))
    case "run":
      try batches(
        arguments.int(1), isConditional: arguments.int(2) != 0, out: arguments.word(3), cpu: arguments.int(4))
    default: arguments.fail()
    }
  }

  /// All six orders by turns: who comes first finds the coldest cache, and who follows whom counts, too.
  @_noLocks @_noAllocation
  private static func kind(turn: Int, place: Int) -> Int {
    (turn / 3) % 2 == 0 ? (turn &+ place) % 3 : (turn &+ 2 &- place) % 3
  }

  private struct Stepping: ControlLoop, NoOutput {
    let controllers: PIDControllers
    let samples: (Samples, Samples, Samples)
    let wanted: Int
    let done: Completion

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      let turn = Int(truncatingIfNeeded: tick.index)
      guard samples.0.taken.pointee < wanted else { return }
      for place in 0..<3 {
        let kind = PIDBench.kind(turn: turn, place: place)
        let begin = bench_now()
        controllers.stepAll(kind, offset: turn & 1_023)
        let taken = bench_now() &- begin
        switch kind {
        case 0: samples.0.append(taken)
        case 1: samples.1.append(taken)
        default: samples.2.append(taken)
        }
      }
      if samples.0.taken.pointee == wanted { done.signal() }
    }
  }

  private static func tick(
    seconds: Int, count: Int, isConditional: Bool, out: String, priority: Int, cpu: Int
  ) throws {
    precondition(count <= PIDControllers.inputs - 1_024)
    let controllers = try PIDControllers(count: count, isConditional: isConditional)
    let wanted = seconds * 1_000
    let samples = (Samples(capacity: wanted), Samples(capacity: wanted), Samples(capacity: wanted))
    let done = Completion()
    let runtime = try Runtime(strict: true) {
      Lane("bench", scheduling: .fifo(priority), cpu: cpu) {
        Loop("pid", every: .hertz(1_000)) {
          Stepping(controllers: controllers, samples: samples, wanted: wanted, done: done)
        }
      }
    }
    try runtime.start()
    done.await()
    runtime.stop()
    write(samples, to: out)
    print("{\"ticks\": \(wanted), \"controllers\": \(count)}")
  }

  private static func batches(_ count: Int, isConditional: Bool, out: String, cpu: Int) throws {
    bench_pin(Int32(cpu))
    let controllers = try PIDControllers(count: 1, isConditional: isConditional)
    let samples = (Samples(capacity: count), Samples(capacity: count), Samples(capacity: count))
    var largest = 0.0
    for batch in 0..<count {
      var outputs: [[Double]] = [[], [], []]
      for place in 0..<3 {
        let kind = kind(turn: batch, place: place)
        let begin = bench_now()
        controllers.run(kind)
        let taken = bench_now() - begin
        [samples.0, samples.1, samples.2][kind].append(taken)
        if batch < 100 { outputs[kind] = controllers.last }
      }
      for (one, other) in zip(outputs[0], outputs[1]) { largest = max(largest, (one - other).magnitude) }
    }
    // Both columns are the same controller: were one of them not, its time would say nothing.
    precondition(largest < 1e-9, "Swift and C differ by \(largest)")
    write(samples, to: out)
    print("{\"batches\": \(count), \"steps\": \(PIDControllers.inputs), \"difference\": \(largest)}")
  }

  private static func write(_ samples: (Samples, Samples, Samples), to out: String) {
    samples.0.write(to: out + ".swift")
    samples.1.write(to: out + ".c")
    samples.2.write(to: out + ".toolbox")
  }
}
