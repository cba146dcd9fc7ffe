import Buses
import Tactus

/// The pump's inputs on real hardware or on simulated buses: thermistors and potentiometer on a converter, the button on a GPIO line. It must outlive
/// its loop, which alone uses the inputs.
public final class PumpHardwareInputs: @unchecked Sendable {  // safe: written before the loop, used by it alone
  private let state: UnsafeMutablePointer<PumpHardwareInputsState>

  /// Creates the inputs from those of the converter and the button that the pump has.
  ///
  /// - Parameters:
  ///   - converter, bus: the analogue inputs, or both `nil` if there are none.
  ///   - button: a GPIO line with both edges, whose descriptor releases the loop, or `nil` if there is no button.
  public init(_ converter: PumpConverter?, on bus: consuming I2CBus?, button: consuming GPIOEvents?) {
    state = .allocate(capacity: 1)
    state.initialize(
      to: PumpHardwareInputsState(reader: converter.map(PumpConverterReader.init), bus: bus, button: button))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  public func inputs() -> PumpInputs { PumpInputs(context: state, read: readHardware) }

  /// Reads every analogue input once, for 200 ms at most, so that the loop begins with real values. Call it before the loop runs.
  public func prime() throws(RuntimeError) {
    // No other thread rings this bell, so each wait ends by the clock.
    let bell = try Doorbell()
    let end = MonotonicClock.now + .milliseconds(200)
    while !state.pointee.isComplete, MonotonicClock.now < end {
      state.pointee.convert(at: MonotonicClock.now)
      bell.wait(limit: .milliseconds(5))
    }
  }
}

struct PumpHardwareInputsState: ~Copyable {
  private var reader: PumpConverterReader?
  private var bus: I2CBus?
  private var button: GPIOEvents?
  private var edges = GPIOEdgeBatch(capacity: 16)

  init(reader: PumpConverterReader?, bus: consuming I2CBus?, button: consuming GPIOEvents?) {
    self.reader = reader
    self.bus = bus
    self.button = button
  }

  var isComplete: Bool { reader?.isComplete ?? true }

  @_noLocks @_noAllocation
  mutating func convert(at now: TickInstant) {
    bus?.now = now
    if bus != nil { reader?.step(on: &bus!) }
  }

  /// Reads all inputs into the sample. Returns 0, or −errno of the button's line.
  @_noLocks @_noAllocation
  mutating func read(into sample: UnsafeMutablePointer<PumpSample>, at now: TickInstant) -> Int32 {
    convert(at: now)
    if let reader { reader.fill(&sample.pointee, at: now) }
    if button == nil { return 0 }
    do throws(GPIOError) {
      // The edges only release the loop; the level counts, and the machine debounces it.
      button!.now = now
      _ = try button!.receive(into: &edges)
      sample.pointee.isButtonPressed = try button!.read() & 1 == 1
      return 0
    } catch {
      return error.resultOfLines
    }
  }
}

@_noLocks @_noAllocation
private func readHardware(_ context: UnsafeMutableRawPointer, _ sample: UnsafeMutableRawPointer, _ now: Int64) -> Int32
{
  context.assumingMemoryBound(to: PumpHardwareInputsState.self).pointee.read(
    into: sample.assumingMemoryBound(to: PumpSample.self), at: TickInstant(nanoseconds: now))
}
