extension Doctor {
  /// Checks whether each receiver of the file can be reached and takes its login. Nothing is sent.
  func receivers() -> [Diagnosis] {
    guard machine.isThisOne, var notify = configuration?.notify else { return [] }
    let why = "whoever should be told is not told while it cannot be reached"
    do throws(ConfigError) {
      try notify.readSecrets()
    } catch {
      return [
        Diagnosis(
          name: "receivers", status: .fail, found: "\(error)", why: "the daemon does not start without it",
          fix: "write the secret into the file, readable for the daemon's account")
      ]
    }
    return notify.receivers.map { receiver in
      let outcome = NoticeSender(receiver: receiver).probe()
      var isReached = false
      if case .sent = outcome { isReached = true }
      return Diagnosis(
        name: "receiver \(receiver.name)", status: isReached ? .ok : .warn, found: outcome.words, why: why,
        fix: isReached
          ? nil : "mend its keys in notify.receivers, then: tactus notify test \(receiver.name) --config FILE")
    }
  }
}
