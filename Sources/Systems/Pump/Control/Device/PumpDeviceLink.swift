import Tactus

/// Where the command came from that is being obeyed.
enum PumpAsker: BitwiseCopyable {
  /// It was none: whatever is said is for everyone.
  case nobody
  /// By a link: the answers are for its other end only.
  case first
  case second
  /// From inside the daemon: of the answers everyone is told what the pump does now.
  case inside

  @_noLocks @_noAllocation
  func isHeard(_ reply: PumpReply, byFirst isFirst: Bool) -> Bool {
    switch self {
    case .nobody: return true
    case .first: return isFirst
    case .second: return !isFirst
    case .inside:
      switch reply {
      case .pump: return true
      case .ok, .speed, .status, .temperatures, .manual, .error, .remark: return false
      }
    }
  }
}

/// One way to operate the device side, with the line that is being put together there; or none.
struct PumpDeviceLink: ~Copyable {
  private static var bytesPerTick: Int {
    @_noLocks @_noAllocation get { 1_024 }
  }

  private var link: PumpLink?
  private var assembler: PumpLineAssembler
  /// What `nextLine` has found.
  let line: UnsafeMutableRawBufferPointer
  /// Received and not yet looked at.
  private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
  private var next = 0
  private var taken = 0
  private(set) var isConnected = false

  init(_ link: consuming PumpLink?, rule: PumpCommandRule) {
    self.link = link
    switch rule {
    case .strict:
      assembler = PumpLineAssembler()
      line = .allocate(byteCount: PumpLineAssembler.standardCapacity, alignment: 8)
    case .firmware:
      assembler = PumpLineAssembler(overflow: .dropsBeginning)
      line = .allocate(byteCount: PumpCommand.maximumLineLength, alignment: 8)
    }
  }

  deinit { line.deallocate() }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) { link?.begin(at: now) }

  @_noLocks @_noAllocation
  mutating func takeEvents() {
    while let event = link?.takeEvent() {
      if case .up = event { isConnected = true } else { isConnected = false }
      assembler.reset()
    }
    if !isConnected { link?.recover() }
  }

  /// Before the lines of one tick: their bytes are bounded.
  @_noLocks @_noAllocation
  mutating func beginReading() {
    taken = 0
    next = 0
    piece = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// The next line of this tick, or `nil` if there is no more. Never `incomplete`.
  @_noLocks @_noAllocation
  mutating func nextLine() -> PumpLineAssembler.Outcome? {
    while true {
      while next < piece.count {
        let byte = piece[next]
        next &+= 1
        switch assembler.take(byte, into: line) {
        case .incomplete: break
        case let outcome: return outcome
        }
      }
      guard taken < Self.bytesPerTick, let bytes = link?.receive() else { return nil }
      taken &+= bytes.count
      piece = bytes
      next = 0
    }
  }

  /// Throws away what has been received, up to the most that the kernel keeps of a serial line, and the line that has begun.
  @_noLocks @_noAllocation
  mutating func drop() {
    beginReading()
    while taken < 16 * Self.bytesPerTick, let bytes = link?.receive() { taken &+= bytes.count }
    assembler.reset()
  }

  /// It is `nil` if nobody is connected. False: it did not go out whole.
  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawBufferPointer) -> Bool? {
    guard isConnected else { return nil }
    return link?.send(bytes)
  }
}
