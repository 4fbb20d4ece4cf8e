internal import LinnetMessages

/// Splits the value of a Cache-Control field into directives (RFC 9111, section 5.2).
struct DirectiveScanner {
    enum Argument: Equatable {
        case absent
        /// A token or the content of a quoted string.
        case bytes([UInt8])
        case malformed
    }

    struct Directive {
        /// A token in lower case.
        let name: String
        let argument: Argument

        /// The argument as a number; nil if it is absent or anything else.
        var seconds: Int64? {
            guard case .bytes(let bytes) = argument else { return nil }
            return DeltaSeconds.parse(bytes)
        }

        /// The argument as text.
        var text: String? {
            guard case .bytes(let bytes) = argument else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// The argument as a list of field names. Anything else means the whole response, which is more restrictive.
        var scope: CacheDirectives.Scope {
            guard let text, let names = TokenList.names(text), !names.isEmpty else { return .response }
            return .fields(Set(names))
        }
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) { bytes = Array(value.utf8) }

    /// The next directive; nil at the end. Elements whose name is not a token are skipped.
    mutating func next() -> Directive? {
        while position < bytes.count {
            let start = position
            skip { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            let name = bytes[start..<position].trimmed
            let hasSpaceBeforeArgument = position > start && ASCII.isBlank(bytes[position - 1])
            let argument = self.argument()
            // The comma.
            position += 1
            guard !name.isEmpty, name.allSatisfy(ASCII.isToken) else { continue }
            return Directive(
                name: String(decoding: name.map(ASCII.lowercase), as: UTF8.self),
                argument: hasSpaceBeforeArgument && argument != .absent ? .malformed : argument)
        }
        return nil
    }

    /// Ends at a comma or at the end.
    private mutating func argument() -> Argument {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return .absent }
        position += 1
        let start = position
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            if let content = quoted() {
                let end = position
                skip { $0 != UInt8(ascii: ",") }
                return bytes[end..<position].allSatisfy(ASCII.isBlank) ? .bytes(content) : .malformed
            }
            // Directives after an unclosed quotation mark still count, because ignoring them could lift a restriction.
            position = start
            skip { $0 != UInt8(ascii: ",") }
            return .malformed
        }
        skip { $0 != UInt8(ascii: ",") }
        let token = bytes[start..<position].trimmedAtEnd
        return !token.isEmpty && token.allSatisfy(ASCII.isToken) ? .bytes(Array(token)) : .malformed
    }

    /// The content of a quoted string, without its escapes (RFC 9110, section 5.6.4); nil if it is not closed.
    private mutating func quoted() -> [UInt8]? {
        var content: [UInt8] = []
        position += 1
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return content }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                byte = bytes[position]
                position += 1
            }
            content.append(byte)
        }
        return nil
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) { position += 1 }
    }
}
