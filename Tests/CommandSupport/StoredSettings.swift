/// The paths of the stored values of `value` that equal the values in `defaults`, or nil. A test that changes every
/// setting expects none, and fails when a new setting is not changed.
///
/// Values of Linnet's structs and enums are followed; all others are compared by their description.
///
/// The closure of a validation is left out: it cannot be coded, which is an error.
public func unchangedSettings(in value: Any, from defaults: Any) -> [String] {
    let before = Dictionary(uniqueKeysWithValues: storedSettings(of: defaults, at: ""))
    return storedSettings(of: value, at: "").filter { before[$0.path] == $0.text || $0.text == "nil" }.map(\.path)
        .filter { !$0.hasSuffix("validation.check") }.sorted()
}

private func storedSettings(of value: Any, at path: String) -> [(path: String, text: String)] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional, let wrapped = mirror.children.first {
        return storedSettings(of: wrapped.value, at: path)
    }
    if mirror.displayStyle == .set {
        return [(path, mirror.children.map { "\($0.value)" }.sorted().joined(separator: " "))]
    }
    let isFollowed = mirror.displayStyle == .struct || mirror.displayStyle == .enum
    guard isFollowed, !mirror.children.isEmpty, String(reflecting: mirror.subjectType).hasPrefix("Linnet") else {
        return [(path, String(describing: value))]
    }
    return mirror.children.flatMap { child in
        storedSettings(of: child.value, at: path + (path.isEmpty ? "" : ".") + (child.label ?? "_"))
    }
}
