import CBench
import Tactus
import TactusControl

/// The same controllers three times: TactusControl's, the same in C, control_toolbox's algorithm in C; and what they are fed with.
///
/// Each loop over them is one function in its own language, so that each compiler may inline its step as an embedder's would.
struct PIDControllers {
  /// The words for them, in the harness's order.
  static let names = ["swift", "c", "toolbox"]
  static let inputs = 4_096

  let count: Int
  private let swift: UnsafeMutablePointer<PID>
  private let c: UnsafeMutablePointer<bench_pid>
  private let toolbox: UnsafeMutablePointer<bench_toolbox_pid>
  private let setpoints: UnsafeMutablePointer<Double>
  private let measurements: UnsafeMutablePointer<Double>
  private let outputs: UnsafeMutablePointer<Double>

  /// Lives as long as the program.
  init(count: Int, isConditional: Bool) throws {
    let tracking = Nanoseconds.milliseconds(50)
    let settings = try PIDSettings(
      proportional: 2, integral: 8, derivative: 0.05, derivativeFilter: .milliseconds(5), minimumOutput: -1,
      maximumOutput: 1, antiWindup: isConditional ? .conditional : .backCalculation(trackingTime: tracking),
      sampleTime: .milliseconds(1))
    self.count = count
    swift = .allocate(capacity: count)
    swift.initialize(repeating: PID(settings), count: count)
    c = .allocate(capacity: count)
    c.initialize(
      repeating: bench_pid(
        proportional: 2, derivative: 0.05, setpoint_weight: 1, minimum: -1, maximum: 1, integral_gain: 8 * 0.001,
        slope_decay: 0.005 / 0.006, slope_gain: 1 / 0.006, tracking_gain: isConditional ? 0 : 0.001 / 0.05, integral: 0,
        slope: 0, output: 0, last_setpoint: 0, last_measurement: .nan, rejected: 0), count: count)
    toolbox = .allocate(capacity: count)
    toolbox.initialize(
      repeating: bench_toolbox_pid(
        p_gain: 2, i_gain: 8, d_gain: 0.05, u_max: 1, u_min: -1, tracking_time: 0.05, i_term: 0, last_error: 0,
        command: 0), count: count)
    (setpoints, measurements, outputs) = (
      .allocate(capacity: Self.inputs), .allocate(capacity: Self.inputs), .allocate(capacity: Self.inputs)
    )
    outputs.initialize(repeating: 0, count: Self.inputs)
    var random = SplitMix64(seed: 15)
    for index in 0..<Self.inputs {
      // A setpoint that steps now and then, and a noisy measurement about it: limits are met, and left.
      let target = index % 256 < 128 ? 0.3 : -0.3
      setpoints.advanced(by: index).initialize(to: target)
      measurements.advanced(by: index).initialize(to: target + Double(Int64(bitPattern: random.next())) * 0x1p-63 * 0.2)
    }
  }

  /// One step of each controller of one kind, 0, 1 or 2; `offset` is where the inputs begin.
  @_noLocks @_noAllocation
  func stepAll(_ kind: Int, offset: Int) {
    let (r, y) = (setpoints + offset, measurements + offset)
    switch kind {
    case 0: pidAll(swift, r, y, outputs, count)
    case 1: bench_pid_all(c, r, y, outputs, count)
    default: bench_toolbox_pid_all(toolbox, r, y, outputs, count, 0.001)
    }
  }

  /// `inputs` steps of the first controller of one kind.
  @_noLocks @_noAllocation
  func run(_ kind: Int) {
    switch kind {
    case 0: pidRun(swift, setpoints, measurements, outputs, Self.inputs)
    case 1: bench_pid_run(c, setpoints, measurements, outputs, Self.inputs)
    default: bench_toolbox_pid_run(toolbox, setpoints, measurements, outputs, Self.inputs, 0.001)
    }
  }

  /// The last outputs, for the check that Swift's and C's are the same numbers.
  var last: [Double] { Array(UnsafeBufferPointer(start: outputs, count: Self.inputs)) }
}

@_noLocks @_noAllocation @inline(never)
private func pidAll(
  _ controllers: UnsafeMutablePointer<PID>, _ setpoints: UnsafePointer<Double>, _ measurements: UnsafePointer<Double>,
  _ outputs: UnsafeMutablePointer<Double>, _ count: Int
) {
  for index in 0..<count {
    outputs[index] = controllers[index].step(setpoint: setpoints[index], measurement: measurements[index])
  }
}

@_noLocks @_noAllocation @inline(never)
private func pidRun(
  _ controller: UnsafeMutablePointer<PID>, _ setpoints: UnsafePointer<Double>, _ measurements: UnsafePointer<Double>,
  _ outputs: UnsafeMutablePointer<Double>, _ count: Int
) {
  for index in 0..<count {
    outputs[index] = controller.pointee.step(setpoint: setpoints[index], measurement: measurements[index])
  }
}
