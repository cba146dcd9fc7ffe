import CBench
import Tactus

/// recorded off|on TICKS: real time for each tick of a loop that reads, takes, pushes and publishes, in simulated time, without and with a recorder; and how
/// fast what was recorded is replayed.
enum Recorded {
  static func run(_ arguments: Arguments) throws {
    let (isOn, ticks) = (arguments.word(0) == "on", Int64(arguments.int(1)))
    let (runtime, mailboxes) = try make(isOn ? Recorder(bytesPerLane: 64 << 20) : nil)
    let simulation = try runtime.simulation()
    var orders = mailboxes.orders.writer()
    simulation.run(for: .seconds(1))
    let start = bench_now()
    for _ in 0..<ticks / 50 {
      _ = orders.push(1)
      simulation.run(for: .milliseconds(50))
    }
    let spent = Double(bench_now() - start) / Double(ticks / 50 * 50)
    var words = ["\"tick_ns\": \(spent)"]
    if let recording = runtime.recording() {
      let (again, _) = try make(nil)
      let begun = bench_now()
      let replayed = try again.replay(recording)
      let took = Double(bench_now() - begun)
      words += [
        "\"bytes\": \(Double(replayed.bytes) / Double(replayed.ticks))",
        "\"differences\": \(replayed.differences.count)",
        "\"replay_tick_ns\": \(took / Double(replayed.ticks))",
        "\"times_real_time\": \(Double((recording.ends - recording.begins).count) / took)",
      ]
    }
    print("{\(words.joined(separator: ", "))}")
  }

  private struct Mailboxes {
    let input = Latest(Sample())
    let output = Latest(Sample())
    let orders = Ring<Int64>(capacity: 16)
    let answers = Ring<Int64>(capacity: 16)
  }

  private static func make(_ recorder: Recorder?) throws -> (Runtime, Mailboxes) {
    let mailboxes = Mailboxes()
    let runtime = try Runtime(recorder: recorder) {
      Lane("bench") {
        Loop("loop", every: .hertz(1000)) {
          Controller(
            input: mailboxes.input.reader(), output: mailboxes.output.writer(), orders: mailboxes.orders.reader(),
            answers: mailboxes.answers.writer())
        }
      }
    }
    return (runtime, mailboxes)
  }

  /// 64 bytes, as the state of a small controller has.
  struct Sample: BitwiseCopyable, Sendable {
    var values = [8 of Double](repeating: 0)
  }

  private struct Controller: ControlLoop, NoOutput, ~Copyable {
    var input: LatestReader<Sample>
    var output: LatestWriter<Sample>
    var orders: RingReader<Int64>
    var answers: RingWriter<Int64>
    var state = [8 of Double](repeating: 0)

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      let sample = input.read()
      while let order = orders.pop() { _ = answers.push(order) }
      state[0] = state[0] * 0.9 + sample.values[0] + Double(tick.index)
      var written = sample
      written.values = state
      output.write(written)
    }
  }
}
