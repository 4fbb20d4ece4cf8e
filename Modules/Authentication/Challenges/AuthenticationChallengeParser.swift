internal import LinnetMessages

/// Parses a list of challenges (RFC 9110, section 11.6.1), in which a comma separates both challenges and parameters.
struct AuthenticationChallengeParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func challenges(upTo limit: Int) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        while challenges.count < limit, skipSeparators(), let challenge = challenge() { challenges.append(challenge) }
        return challenges
    }

    /// Parses a scheme and the token68 value or the parameters after it; returns nil without a valid scheme.
    private mutating func challenge() -> AuthenticationChallenge? {
        guard let scheme = token() else { return nil }
        var challenge = AuthenticationChallenge(scheme: scheme)
        guard let next = current else { return challenge }
        if next == .comma { return challenge }
        guard next == .space || next == .tab else { return nil }
        skipBlanks()
        if current == nil || current == .comma { return challenge }
        if let token68 = token68() {
            challenge.token68 = token68
            return challenge
        }
        let start = position
        while let (name, value) = parameter() {
            if challenge.parameters[name] == nil { challenge.add(name, value) }
            guard skipSeparators() else { break }
        }
        // Neither a token68 value nor a parameter follows the scheme, so the rest of the list is malformed.
        if position == start { position = bytes.endIndex }
        return challenge
    }

    /// Parses a parameter; returns nil and consumes nothing if the next element is not a parameter.
    private mutating func parameter() -> (name: String, value: [UInt8])? {
        let start = position
        if let name = token() {
            skipBlanks()
            if current == .equals {
                position += 1
                skipBlanks()
                let value = current == .quote ? quotedString() : token().map { Array($0.utf8) }
                if let value, isAtEndOfElement { return (name.lowercased(), value) }
                // The parameter is malformed, so the boundaries of the elements after it are unknown.
                position = bytes.endIndex
                return nil
            }
        }
        position = start
        return nil
    }

    private mutating func token68() -> String? {
        let start = position
        while let byte = current, byte.isToken68 { position += 1 }
        let end = position
        while current == .equals { position += 1 }
        if end > start, isAtEndOfElement { return text(start..<position) }
        position = start
        return nil
    }

    private mutating func token() -> String? {
        let start = position
        while let byte = current, ASCII.isToken(byte) { position += 1 }
        return position > start ? text(start..<position) : nil
    }

    /// Parses a quoted string and removes its quotes and escapes; returns nil if the closing quote is missing.
    private mutating func quotedString() -> [UInt8]? {
        var content: [UInt8] = []
        position += 1
        while let byte = current {
            position += 1
            switch byte {
            case .quote:
                return content
            case .backslash:
                guard let escaped = current else { return nil }
                content.append(escaped)
                position += 1
            default:
                content.append(byte)
            }
        }
        return nil
    }

    private var current: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    private var isAtEndOfElement: Bool {
        let rest = bytes[position...].drop { $0 == .space || $0 == .tab }
        return rest.first == nil || rest.first == .comma
    }

    private mutating func skipBlanks() {
        while let byte = current, byte == .space || byte == .tab { position += 1 }
    }

    /// Skips separators, and returns whether another element follows.
    private mutating func skipSeparators() -> Bool {
        while let byte = current, byte == .space || byte == .tab || byte == .comma { position += 1 }
        return current != nil
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let backslash = UInt8(ascii: "\\")
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")

    /// Whether the byte may occur in a token68 value, apart from its padding (RFC 9110, section 11.2).
    fileprivate var isToken68: Bool { ASCII.isAlphanumeric(self) || "-._~+/".utf8.contains(self) }
}
