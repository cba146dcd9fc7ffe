import Tactus

/// Notices that wait to be taken. A run's opening and end always have room: it is set aside when the run is accepted.
struct NoticeQueue: ~Copyable {
  static var capacity: Int {
    @_noLocks @_noAllocation get { 1_024 }
  }
  private let notices: UnsafeMutablePointer<IrrigationNotice>
  private var first = 0
  private(set) var count = 0
  /// Places set aside for runs.
  private var reserved = 0
  /// Notices other than a run's that found no place.
  private(set) var dropped: Int64 = 0

  init() {
    notices = .allocate(capacity: Self.capacity)
    notices.initialize(repeating: IrrigationNotice(at: .zero, .linesAgree), count: Self.capacity)
  }

  deinit { notices.deallocate() }

  /// A place each for a run's opening and its end. False: there is none.
  @_noLocks @_noAllocation
  mutating func reserve() -> Bool {
    guard count + reserved + 2 <= Self.capacity else { return false }
    reserved += 2
    return true
  }

  /// Into places that were set aside, of which it gives back `places`.
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

  /// The oldest; nil when none waits.
  @_noLocks @_noAllocation
  func peek() -> IrrigationNotice? { count > 0 ? notices[first] : nil }

  @_noLocks @_noAllocation
  private mutating func append(_ notice: IrrigationNotice) {
    precondition(count < Self.capacity)
    notices[(first + count) % Self.capacity] = notice
    count += 1
  }
}
