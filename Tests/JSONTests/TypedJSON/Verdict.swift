import FoundationEssentials
import LinnetJSON
import Testing

/// The result of a decoder for a text: a value, or an error with its kind, its type or key, and its coding path.
enum Verdict<Value: Equatable>: Equatable {
    case value(Value)
    case error(kind: String, path: [String])

    init(_ decode: () throws -> Value) {
        do {
            self = .value(try decode())
        } catch {
            let (kind, path) = summary(of: error)
            self = .error(kind: kind, path: path)
        }
    }

    var isCorrupted: Bool {
        if case .error("dataCorrupted", _) = self { true } else { false }
    }
}

/// The kind of an error, with its type or key, and its coding path.
func summary(of error: any Error) -> (kind: String, path: [String]) {
    func names(_ context: DecodingError.Context) -> [String] { context.codingPath.map(\.stringValue) }
    switch error {
    case DecodingError.typeMismatch(let type, let context): return ("typeMismatch \(type)", names(context))
    case DecodingError.valueNotFound(let type, let context): return ("valueNotFound \(type)", names(context))
    case DecodingError.keyNotFound(let key, let context): return ("keyNotFound \(key.stringValue)", names(context))
    case DecodingError.dataCorrupted(let context): return ("dataCorrupted", names(context))
    default: return ("\(error)", [])
    }
}

/// Checks that a text has the same value, or the same error, as with Foundation's decoder.
///
/// Some differences are deliberate (`TypedJSONDifferenceTests`). A text that is not JSON is always an error without a
/// path: Foundation's decoder does not look at all of it. A mistake in one number or date is reported at its path,
/// where Foundation's error has no path or the container's. Numbers with an exponent are exact, and a day that does not
/// exist is no date.
func expectFoundationsVerdict<Value: Decodable & Equatable>(
    _ type: Value.Type, _ data: Data, _ settings: (JSONDecoder) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let foundation = JSONDecoder()
    settings(foundation)
    let decoder = JSONBodyDecoder(foundation)
    let ours = Verdict { try decoder.decode(type, from: data) }
    let text = String(decoding: data.prefix(2000), as: UTF8.self)
    guard (try? JSONValue(parsing: data)) != nil else {
        #expect(ours == .error(kind: "dataCorrupted", path: []), "\(text)", sourceLocation: sourceLocation)
        return
    }
    let theirs = Verdict { try foundation.decode(type, from: data) }
    if case .error("dataCorrupted", let path) = ours, case .error("dataCorrupted", let theirPath) = theirs {
        #expect(path.starts(with: theirPath), "\(text)", sourceLocation: sourceLocation)
        return
    }
    if hasExponent(text), ours.isCorrupted != theirs.isCorrupted { return }
    #expect(ours == theirs, "\(text)", sourceLocation: sourceLocation)
}

/// Whether a text has a number with an exponent.
private func hasExponent(_ text: String) -> Bool {
    zip(text.utf8, text.utf8.dropFirst()).contains { (0x30...0x39).contains($0) && $1 | 0x20 == UInt8(ascii: "e") }
}

func expectFoundationsVerdict<Value: Decodable & Equatable>(
    _ type: Value.Type, _ text: String, _ settings: (JSONDecoder) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation
) {
    expectFoundationsVerdict(type, Data(text.utf8), settings, sourceLocation: sourceLocation)
}
