import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions
import Tactus

/// Input lines of one of the kernel's GPIO chips with their changes, held as long as this object exists.
public final class LinuxGPIOEvents: @unchecked Sendable {
  // Safe to send: the pointer never changes, and what is behind it is only read.
  private let state: UnsafeMutablePointer<tactus_gpio_events>
  /// The lines, in the order of the port.
  public let inputs: [GPIOInput]

  /// Requests `inputs`, 1…64 lines of one chip, as inputs. `consumer` is the name that the kernel shows as their holder, at most
  /// 31 bytes. The kernel takes at most ten different combinations of settings in one request.
  public convenience init(_ inputs: [GPIOInput], consumer: String = "tactus") throws(GPIORequestError) {
    try self.init(inputs, consumer: consumer, among: LinuxGPIOChip.all())
  }

  /// Requests `inputs` as `init(_:consumer:)` does, but searches only `chips` for them.
  public init(
    _ inputs: [GPIOInput], consumer: String = "tactus", among chips: [LinuxGPIOChip]
  ) throws(GPIORequestError) {
    let selection = try LinuxGPIOSelection(inputs.map(\.line.name), among: chips)
    let requests = zip(inputs, selection.offsets).map { input, offset in
      tactus_gpio_input(
        offset: offset, is_active_low: input.line.isActiveLow ? 1 : 0, rising: input.edges == .falling ? 0 : 1,
        falling: input.edges == .rising ? 0 : 1, pull: Self.pull(input.pull),
        // The debounce is rounded up to the microsecond, so that it is never shorter than requested.
        debounce_us: UInt32(clamping: (input.debounce.count + 999) / 1_000))
    }
    let result = tactus_gpio_request_events(selection.chip.descriptor, requests, requests.count, consumer)
    guard result >= 0 else { throw selection.refusal(errno: -result) }
    self.inputs = inputs
    var events = tactus_gpio_events()
    events.descriptor = result
    events.count = UInt32(clamping: requests.count)
    withUnsafeMutableBytes(of: &events.offsets) { bytes in
      let offsets = bytes.bindMemory(to: UInt32.self)
      for (index, offset) in selection.offsets.enumerated() { offsets[index] = offset }
    }
    state = .allocate(capacity: 1)
    state.initialize(to: events)
  }

  deinit {
    tactus_close(state.pointee.descriptor)
    state.deallocate()
  }

  /// The descriptor, which polls readable when a change waits.
  public var descriptor: Int32 { state.pointee.descriptor }

  /// Returns the lines for the one loop that owns them.
  public func port() -> GPIOEvents {
    GPIOEvents(
      context: state, count: inputs.count, descriptor: descriptor, receive: receiveFromKernel,
      perform: readFromKernel)
  }

  private static func pull(_ pull: GPIOInput.Pull) -> Int32 {
    switch pull {
    case .asIs: Int32(truncatingIfNeeded: TACTUS_GPIO_AS_IS)
    case .up: Int32(truncatingIfNeeded: TACTUS_GPIO_PULL_UP)
    case .down: Int32(truncatingIfNeeded: TACTUS_GPIO_PULL_DOWN)
    case .none: Int32(truncatingIfNeeded: TACTUS_GPIO_NO_PULL)
    }
  }
}

@_noLocks @_noAllocation
private func receiveFromKernel(_ context: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer) -> Int {
  let events = context.assumingMemoryBound(to: tactus_gpio_events.self)
  let buffer = buffer.assumingMemoryBound(to: GPIOEdgeBuffer.self)
  var edges: [64 of tactus_gpio_edge] = .init(repeating: tactus_gpio_edge())
  let count = withUnsafeMutablePointer(to: &edges) {
    tactus_gpio_edges(
      events, UnsafeMutableRawPointer($0).assumingMemoryBound(to: tactus_gpio_edge.self), buffer.pointee.capacity)
  }
  guard count > 0 else { return count }
  for index in 0..<count {
    buffer.pointee.edges[index] = GPIOEdge(
      at: TickInstant(nanoseconds: edges[index].at), line: Int(edges[index].line),
      isRising: edges[index].is_rising != 0, sequence: edges[index].sequence)
  }
  return count
}

@_noLocks @_noAllocation
private func readFromKernel(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  let events = context.assumingMemoryBound(to: tactus_gpio_events.self)
  let access = access.assumingMemoryBound(to: GPIOAccess.self)
  return tactus_gpio_get(events.pointee.descriptor, access.pointee.mask, &access.pointee.values)
}
