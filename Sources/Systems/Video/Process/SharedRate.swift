@_spi(FromOutside) import Conversions

#if Video
  import CGStreamer
  import Tactus
  import Video

  /// A receiver of RTP and its newest report.
  struct RTPReceiver {
    /// The receiver: the viewer's session, and the number that the receiver gave itself.
    struct Name: Hashable {
      let session: UInt64
      let source: UInt32
    }
    let name: Name
    let report: ReceiverReports.Report

    /// Returns the receivers of an `RTPSession`, 64 at most.
    static func all(of session: UnsafeMutablePointer<GObject>, named number: UInt64) -> [RTPReceiver] {
      withUnsafeTemporaryAllocation(of: RTPReport.self, capacity: 64) { reports in
        reports.initialize(repeating: RTPReport())
        let count = Int(rtp_reports(session, reports.baseAddress, guint(clamping: reports.count)))
        return reports.prefix(count).map { report in
          let roundTrip = Nanoseconds(Int64(report.round_trip) * 1_000_000_000 / 65_536)
          return RTPReceiver(
            name: Name(session: number, source: report.source),
            report: ReceiverReports.Report(
              lost: report.lost, highest: report.highest, roundTrip: roundTrip > .zero ? roundTrip : nil))
        }
      }
    }
  }

  /// The rates of the encoder that all viewers share, as the worst of their links allows. Main thread only.
  struct SharedRate {
    private(set) var rate: StreamRate
    private var receivers: [RTPReceiver.Name: ReceiverReports] = [:]
    /// The longest wait of a frame in the daemon since the last step, or `nil` if the daemon has reported none.
    private var waited: Nanoseconds?
    private var lastStep = TickInstant(nanoseconds: 0)

    init(_ settings: VideoSettings) {
      rate = StreamRate(
        StreamRate.Limits(
          lowest: settings.lowestBitsPerSecond, highest: settings.bitsPerSecond,
          slowest: settings.slowestFramesPerSecond, fastest: settings.framesPerSecond))
    }

    mutating func waits(_ milliseconds: UInt32) {
      waited = max(waited ?? .zero, .milliseconds(Int64(milliseconds)))
    }

    /// Examines the links at most once a second, however often the function is called. Returns whether the rates have
    /// changed.
    ///
    /// - Parameter found: returns the receivers of all viewers.
    mutating func step(isWatched: Bool, at now: TickInstant, _ found: () -> [RTPReceiver]) -> Bool {
      guard now - lastStep >= .milliseconds(950) else { return false }
      lastStep = now
      let before = (rate.bitsPerSecond, rate.framesPerSecond)
      var reports = waited.map { [LinkReport(wait: $0)] } ?? []
      waited = nil
      var known: [RTPReceiver.Name: ReceiverReports] = [:]
      for receiver in isWatched ? found() : [] {
        var history = receivers[receiver.name] ?? ReceiverReports()
        if let report = history.receive(receiver.report) { reports.append(report) }
        known[receiver.name] = history
      }
      receivers = known
      let worst = reports.reduce(nil as LinkReport?) { $0?.worse(than: $1) ?? $1 }
      rate.step(worst, isWatched: isWatched, at: now)
      return before != (rate.bitsPerSecond, rate.framesPerSecond)
    }

    /// Writes the present values into the statistics.
    func write(to statistics: inout VideoStatistics) {
      statistics.rateBits = rate.bitsPerSecond
      statistics.rateFrames = rate.framesPerSecond
      statistics.rateCause = rate.cause
      statistics.lostThousandths = UInt16(saturating: (rate.worst.lost * 1000).rounded())
      statistics.waitMilliseconds = UInt32(clamping: rate.worst.wait.count / 1_000_000)
    }
  }
#endif
