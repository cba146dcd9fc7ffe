import Buses
import CBench
import Devices
import Synchronization
import Tactus

/// A PCA9685's registers in memory, as a bus: what was written can be read back, each full-off is stamped, and each write's bytes
/// go to a socket if there is one.
struct ServoRegisters {
  struct State: ~Copyable {
    let registers: UnsafeMutablePointer<UInt8>
    /// When each channel was last turned off, ns.
    let offs: UnsafeMutablePointer<Atomic<Int64>>
    let socket: Int32

    init(socket: Int32) {
      self.socket = socket
      registers = .allocate(capacity: 512)
      registers.initialize(repeating: 0, count: 512)
      offs = .allocate(capacity: 16)
      for channel in 0..<16 { (offs + channel).initialize(to: Atomic(0)) }
    }

    /// Byte `value` to `register`; whether it is a channel's full-off.
    @_noLocks @_noAllocation
    func put(_ value: UInt8, in register: Int) {
      registers[register] = value
      guard value & 0x10 != 0 else { return }
      let now = bench_now()
      if register == 0xFD {
        for channel in 0..<16 { offs[channel].store(now, ordering: .releasing) }
      } else if register >= 0x06, register < 0x46, (register - 0x06) & 3 == 3 {
        offs[(register - 0x06) >> 2].store(now, ordering: .releasing)
      }
    }
  }

  /// Lives as long as the program.
  let state: UnsafeMutablePointer<State>

  /// −1: no socket.
  init(socket: Int32 = -1) {
    state = .allocate(capacity: 1)
    state.initialize(to: State(socket: socket))
  }

  func bus() -> I2CBus { I2CBus(context: state, transfer: transferRegisters) }

  @_noLocks @_noAllocation
  func off(_ channel: Int) -> Int64 { state.pointee.offs[channel].load(ordering: .acquiring) }
}

@_noLocks @_noAllocation
private func transferRegisters(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: ServoRegisters.State.self)
  let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
  let first = Int(transfer.pointee.register)
  let count = transfer.pointee.bytes.count
  switch transfer.pointee.operation {
  case .writeByte, .writeBlock:
    if state.pointee.socket >= 0 {
      // As on the wire, without the address: the register, then its bytes.
      var bytes: [33 of UInt8] = .init(repeating: 0)
      bytes[0] = transfer.pointee.register
      for index in 0..<count { bytes[index + 1] = transfer.pointee.bytes[index] }
      bench_send_now(state.pointee.socket, &bytes, count + 1)
    }
    for index in 0..<count { state.pointee.put(transfer.pointee.bytes[index], in: first + index) }
  case .readBlock:
    for index in 0..<count { transfer.pointee.bytes[index] = state.pointee.registers[first + index] }
  case .plainRead, .plainWrite: return -95
  }
  return 0
}
