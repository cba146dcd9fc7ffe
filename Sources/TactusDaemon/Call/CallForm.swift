import Wire

/// One of the forms that the body of a command may have.
struct CallForm {
  /// The purpose of this form, or `nil` if the document does not state one.
  let summary: String?
  /// The members of this form, the required ones first.
  let fields: [CallParameter]

  /// Returns how badly members fit this form, as numbers to be compared one after another: the members with a value
  /// that the form does not allow, the members that the form does not have, and the required members that are missing.
  private func misfit(_ members: [JSONValue.Member]) -> [Int] {
    let known = members.compactMap { member in fields.first { $0.name == member.name }.map { ($0, member.value) } }
    let wrong = known.count { field, value in value.string.map { !field.allows($0) } ?? false }
    let missing = fields.count { field in field.isRequired && !members.contains { $0.name == field.name } }
    return [wrong, members.count - known.count, missing]
  }

  /// Returns the form that fits these members best.
  static func meant(by members: [JSONValue.Member], of forms: [CallForm]) -> CallForm {
    forms.min { $0.misfit(members).lexicographicallyPrecedes($1.misfit(members)) } ?? CallForm(summary: nil, fields: [])
  }
}
