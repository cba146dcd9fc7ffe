import Tactus

/// A bus for tests of drivers. It expects exactly the given transfers, in their order, and gives the prepared answers.
///
/// A transfer that differs from the expected one fails with EINVAL and sets `mismatch`. The bus is used by one thread.
public final class PlaybackI2CBus {
  /// One expected transfer and its answer.
  public struct Exchange: Sendable, BitwiseCopyable {
    var operation: I2CTransfer.Operation
    var address: I2CAddress
    var register: UInt8
    /// The bytes that must be written, or the bytes that are returned by a read.
    var bytes: I2CBytes
    /// The result of the transfer: 0, or −errno if it failed.
    var result: Int32

    private init(
      _ operation: I2CTransfer.Operation, _ address: I2CAddress, _ register: UInt8, _ bytes: [UInt8], errno: Int32
    ) {
      self.operation = operation
      self.address = address
      self.register = register
      self.bytes = I2CBytes()
      for byte in bytes { self.bytes.append(byte) }
      result = -errno
    }

    /// Returns an exchange that expects one byte to be written to a register. An `errno` other than 0 is the answer.
    public static func writeByte(
      _ byte: UInt8, to address: I2CAddress, register: UInt8, errno: Int32 = 0
    ) -> Exchange {
      Exchange(.writeByte, address, register, [byte], errno: errno)
    }

    /// Returns an exchange that expects these bytes to be written to consecutive registers.
    public static func writeBlock(
      _ bytes: [UInt8], to address: I2CAddress, register: UInt8, errno: Int32 = 0
    ) -> Exchange {
      Exchange(.writeBlock, address, register, bytes, errno: errno)
    }

    /// Returns an exchange that expects a read of exactly `bytes.count` bytes from a register, and answers it with these bytes.
    public static func readBlock(
      _ bytes: [UInt8], from address: I2CAddress, register: UInt8, errno: Int32 = 0
    ) -> Exchange {
      Exchange(.readBlock, address, register, bytes, errno: errno)
    }

    /// Returns an exchange that expects these bytes to be written without a register.
    public static func plainWrite(_ bytes: [UInt8], to address: I2CAddress, errno: Int32 = 0) -> Exchange {
      Exchange(.plainWrite, address, 0, bytes, errno: errno)
    }

    /// Returns an exchange that expects a read of exactly `bytes.count` bytes without a register, and answers it with these bytes.
    public static func plainRead(_ bytes: [UInt8], from address: I2CAddress, errno: Int32 = 0) -> Exchange {
      Exchange(.plainRead, address, 0, bytes, errno: errno)
    }
  }

  fileprivate struct State {
    let exchanges: UnsafeMutablePointer<Exchange>
    let count: Int
    var next = 0
    var mismatch: Mismatch?
  }

  /// A transfer that differs from the expected one.
  public struct Mismatch {
    /// The number of transfers that matched before this one.
    public var index: Int
    /// The transfer that was made instead.
    public var got: I2CTransfer
  }

  private let state: UnsafeMutablePointer<State>

  /// Creates a bus that expects these transfers, in this order.
  public init(_ exchanges: [Exchange]) {
    let copy = UnsafeMutablePointer<Exchange>.allocate(capacity: max(exchanges.count, 1))
    for (index, exchange) in exchanges.enumerated() { (copy + index).initialize(to: exchange) }
    state = .allocate(capacity: 1)
    state.initialize(to: State(exchanges: copy, count: exchanges.count))
  }

  deinit {
    state.pointee.exchanges.deallocate()
    state.deallocate()
  }

  /// Returns the port for the driver under test. With one attempt a test lists every transfer; more attempts test retries.
  public func port(attempts: Int = 1) -> I2CBus {
    I2CBus(context: state, attempts: attempts, transfer: playBack)
  }

  /// The first transfer that differs from the expected one, or `nil` if all matched.
  public var mismatch: Mismatch? { state.pointee.mismatch }
  /// The number of expected transfers that have not happened yet.
  public var remaining: Int { state.pointee.count - state.pointee.next }
  /// Whether every expected transfer has happened, and no other.
  public var isComplete: Bool { mismatch == nil && remaining == 0 }
}

@_noLocks @_noAllocation
private func playBack(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: PlaybackI2CBus.State.self)
  let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
  let index = state.pointee.next
  guard index < state.pointee.count, matches(state.pointee.exchanges[index], transfer.pointee) else {
    if state.pointee.mismatch == nil {
      state.pointee.mismatch = PlaybackI2CBus.Mismatch(index: index, got: transfer.pointee)
    }
    return -22  // EINVAL
  }
  state.pointee.next = index + 1
  if state.pointee.exchanges[index].result == 0 { transfer.pointee.bytes = state.pointee.exchanges[index].bytes }
  return state.pointee.exchanges[index].result
}

@_noLocks @_noAllocation
private func matches(_ expected: PlaybackI2CBus.Exchange, _ got: I2CTransfer) -> Bool {
  guard expected.address.value == got.address.value, expected.register == got.register,
    expected.bytes.count == got.bytes.count
  else { return false }
  switch (expected.operation, got.operation) {
  case (.readBlock, .readBlock), (.plainRead, .plainRead): return true
  case (.writeByte, .writeByte), (.writeBlock, .writeBlock), (.plainWrite, .plainWrite):
    for index in 0..<got.bytes.count where expected.bytes[index] != got.bytes[index] { return false }
    return true
  default: return false
  }
}
