import Tactus

/// A queue of notices that wait to be taken. Room for a run's opening and end is reserved when the run is accepted.
struct NoticeQueue: ~Copyable {
  static var capacity: Int {
    @_noLocks @_noAllocation get { 1_024 }
  }
  private let notices: UnsafeMutablePointer<IrrigationNotice>
  private var first = 0
  private(set) var count = 0
  /// The number of places reserved for runs.
  private var reserved = 0
  /// The number of notices dropped for want of room; notices of a run's opening or end are never dropped.
  private(set) var dropped: Int64 = 0

  init() {
    notices = .allocate(capacity: Self.capacity)
    notices.initialize(repeating: IrrigationNotice(at: .zero, .linesAgree), count: Self.capacity)
  }

  deinit { notices.deallocate() }

  /// Reserves two places, for a run's opening and its end. Returns `false` if there is no room.
  @_noLocks @_noAllocation
  mutating func reserve() -> Bool {
    guard count + reserved + 2 <= Self.capacity else { return false }
    reserved += 2
    return true
  }

  /// Appends a notice to the queue and releases `places` of the reserved places.
  @_noLocks @_noAllocation
  mutating func pushReserved(_ notice: IrrigationNotice, places: Int) {
    precondition(places >= 1 && places <= reserved)
    reserved -= places
    append(notice)
  }

  @_noLocks @_noAllocation
  mutating func push(_ notice: IrrigationNotice) {
    guard count + reserved < Self.capacity else {
      dropped &+= 1
      return
    }
    append(notice)
  }

  @_noLocks @_noAllocation
  mutating func pop() -> IrrigationNotice? {
    guard count > 0 else { return nil }
    let notice = notices[first]
    first = (first + 1) % Self.capacity
    count -= 1
    return notice
  }

  /// Returns the oldest notice without removing it, or `nil` if none waits.
  @_noLocks @_noAllocation
  func peek() -> IrrigationNotice? { count > 0 ? notices[first] : nil }

  @_noLocks @_noAllocation
  private mutating func append(_ notice: IrrigationNotice) {
    precondition(count < Self.capacity)
    notices[(first + count) % Self.capacity] = notice
    count += 1
  }
}
