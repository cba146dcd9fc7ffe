import Dispatch
import Tactus

/// age phases|ordered RATE SECONDS FIFO CPU: how old the data is that the second of two loops uses.
enum Age {
  static func run(_ arguments: Arguments) throws {
    let rate = Rate.hertz(Double(arguments.int(1)))
    let reading = Latest(Sampled<Int64>(initially: 0))
    let age = DataAge("reading", from: "sensor")
    let isOrdered = arguments.word(0) == "ordered"
    guard isOrdered || arguments.word(0) == "phases" else { arguments.fail() }
    let runtime = try Runtime(strict: true) {
      Lane("bench", scheduling: .fifo(arguments.int(3)), cpu: arguments.int(4)) {
        Loop("sensor", every: rate) { Sensor(reading: reading.writer()) }
        if isOrdered {
          Loop("motors", every: rate, after: "sensor", ages: [age]) {
            Motors(reading: reading.reader(), age: age.meter())
          }
        } else {
          Loop("motors", every: rate, ages: [age]) { Motors(reading: reading.reader(), age: age.meter()) }
        }
      }
    }
    try runtime.start()
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + Double(arguments.int(2)))
    runtime.stop()
    let found = runtime.statistics["motors"]!.ages[0]
    func count(_ time: Nanoseconds?) -> Int64 { time?.count ?? -1 }
    print(
      "{\"p50\": \(count(found.age.percentile(0.5))), \"p99\": \(count(found.age.percentile(0.99))), "
        + "\"max\": \(count(found.age.maximum)), \"bound\": \(count(found.bound)), \"count\": \(found.age.count)}")
  }

  private struct Sensor: ~Copyable, ControlLoop, NoOutput {
    var reading: LatestWriter<Sampled<Int64>>

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) { reading.write(Sampled(tick.index, at: tick)) }
  }

  private struct Motors: ~Copyable, ControlLoop, NoOutput {
    var reading: LatestReader<Sampled<Int64>>
    let age: AgeMeter

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) { age.uses(reading.read()) }
  }
}
