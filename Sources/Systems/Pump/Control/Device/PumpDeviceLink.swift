import Tactus

/// The source of the command that is being executed, which decides who receives the replies.
enum PumpAsker: BitwiseCopyable {
  /// No command is being executed: every link receives the line.
  case nobody
  /// A command from the first link, which alone receives the replies.
  case first
  case second
  /// A request from inside the daemon: the links receive only the replies that say whether the pump is on.
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

/// One link by which the pump is operated, with the line being assembled from its bytes. Without a link, nothing is received or sent.
struct PumpDeviceLink: ~Copyable {
  private static var bytesPerTick: Int {
    @_noLocks @_noAllocation get { 1_024 }
  }

  private var link: PumpLink?
  private var assembler: PumpLineAssembler
  /// The buffer of the line that `nextLine` returned last.
  let line: UnsafeMutableRawBufferPointer
  /// Received bytes that have not been processed yet.
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

  /// Starts reading the lines of one tick; the number of bytes read in a tick is bounded.
  @_noLocks @_noAllocation
  mutating func beginReading() {
    taken = 0
    next = 0
    piece = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  /// Returns the next line of this tick, or `nil` if there are no more. Never returns `incomplete`.
  @_noLocks @_noAllocation
  mutating func nextLine() -> PumpLineAssembler.Outcome? {
    while true {
      while next < piece.count {
        let byte = piece[next]
        next &+= 1
        switch assembler.receive(byte, into: line) {
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

  /// Discards the received bytes, up to the capacity of the kernel's buffer of a serial line, and the line being assembled.
  @_noLocks @_noAllocation
  mutating func drop() {
    beginReading()
    while taken < 16 * Self.bytesPerTick, let bytes = link?.receive() { taken &+= bytes.count }
    assembler.reset()
  }

  /// Sends bytes. Returns whether all of them were sent, or `nil` if the link is not connected.
  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawBufferPointer) -> Bool? {
    guard isConnected else { return nil }
    return link?.send(bytes)
  }
}
