import Tactus

/// Integrates a pendulum 1,000 times a second, publishes its angle, and logs every pass through the vertical.
struct Pendulum: ~Copyable, ControlLoop, NoOutput {
  var angle = 0.5, speed = 0.0
  var published: LatestWriter<Double>
  var log: TickLogWriter

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    speed -= 9.81 * angle * 0.001
    let before = angle
    angle += speed * 0.001
    if before * angle < 0 {
      log.write(.info, "vertical, {} rad/s, after {} ticks", speed, Double(tick.index), at: tick.started)
    }
    published.write(angle)
  }
}

let angle = Latest(0.0)
let log = TickLog(capacity: 256)
let runtime = try Runtime {
  Lane("motion", scheduling: .fifo(80)) {
    Loop("pendulum", every: .hertz(1000), safeStateAfter: 3) {
      Pendulum(published: angle.writer(), log: log.writer())
    }
  }
}
try runtime.start()
for report in runtime.reports { for finding in report.findings { print("note: \(finding)") } }
print("1,000 Hz; press return to stop")
_ = readLine()
runtime.stop()

var lines = log.reader()
while let line = lines.pop() { print(line) }
var reader = angle.reader()
print("angle \(reader.read())")
print(runtime.statistics["pendulum"]!)
