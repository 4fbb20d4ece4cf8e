import FoundationEssentials
import HTTPTypes
import LinnetMessages

/// The Content-Disposition of a part (RFC 2183), in the spellings of browsers and other clients.
struct ContentDisposition {
    /// The type in lower case, such as `form-data`.
    private(set) var type = ""
    private(set) var name: String?
    private(set) var fileName: String?

    /// Parses a field; nil if it has no type.
    init?(_ field: HTTPField) {
        var scanner = DispositionScanner(field.withUnsafeBytesOfValue { Array($0) })
        type = String(decoding: scanner.untilSemicolon(), as: UTF8.self).lowercased()
        guard !type.isEmpty else { return nil }
        var extendedFileName: String?
        while let parameter = scanner.parameter() {
            // The first of repeated parameters counts.
            switch parameter.name {
            case "name": name = name ?? text(parameter)
            case "filename": fileName = fileName ?? text(parameter)
            case "filename*": extendedFileName = extendedFileName ?? Self.extendedText(parameter.value)
            default: continue
            }
        }
        fileName = extendedFileName ?? fileName
    }

    private func text(_ parameter: DispositionScanner.Parameter) -> String {
        let bytes = type == "form-data" && parameter.isQuoted ? Self.undoingEscapes(parameter.value) : parameter.value
        return String(validating: bytes, as: UTF8.self) ?? Self.latin1(bytes)
    }

    /// Reverses the escapes of the WHATWG form standard: `%22`, `%0D` and `%0A`.
    private static func undoingEscapes(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let plain =
                index + 2 < bytes.count && bytes[index] == UInt8(ascii: "%")
                ? unescaped(bytes[index + 1], bytes[index + 2]) : nil
            result.append(plain ?? bytes[index])
            index += plain == nil ? 1 : 3
        }
        return result
    }

    private static func unescaped(_ first: UInt8, _ second: UInt8) -> UInt8? {
        switch (first, second | 0x20) {
        case (0x32, 0x32): UInt8(ascii: "\"")
        case (0x30, UInt8(ascii: "d")): 0x0D
        case (0x30, UInt8(ascii: "a")): 0x0A
        default: nil
        }
    }

    /// RFC 8187: `UTF-8'en'%e2%82%ac`; nil if it is malformed, or in a charset other than UTF-8 and ISO-8859-1.
    private static func extendedText(_ value: [UInt8]) -> String? {
        let fields = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        var bytes: [UInt8] = []
        var rest = fields[2]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        switch String(decoding: fields[0], as: UTF8.self).lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return latin1(bytes)
        default: return nil
        }
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}

/// Parses `type; name=value; name="quoted"`.
private struct DispositionScanner {
    struct Parameter {
        /// The name in lower case.
        var name: String
        var value: [UInt8]
        var isQuoted: Bool
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the text before the next semicolon, without surrounding space; the semicolon remains.
    mutating func untilSemicolon() -> ArraySlice<UInt8> {
        skipSpace()
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ";") { position += 1 }
        return trimmed(bytes[start..<position])
    }

    /// The next parameter; nil at the end.
    mutating func parameter() -> Parameter? {
        while position < bytes.count {
            position += 1
            skipSpace()
            let start = position
            while position < bytes.count, bytes[position] != UInt8(ascii: "="), bytes[position] != UInt8(ascii: ";") {
                position += 1
            }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { continue }
            let name = String(decoding: trimmed(bytes[start..<position]), as: UTF8.self).lowercased()
            position += 1
            skipSpace()
            if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
                return Parameter(name: name, value: quoted(), isQuoted: true)
            }
            return Parameter(name: name, value: Array(untilSemicolon()), isQuoted: false)
        }
        return nil
    }

    /// Reads a quoted string. A backslash escapes a quote and a backslash, as in RFC 2183 and curl. Before other
    /// characters it is literal, because some clients send paths.
    ///
    /// Browsers do not escape backslashes (WHATWG HTML, "multipart/form-data encoding algorithm"). Two signs reveal
    /// this: a value that ends in a backslash, before a quote that must be the closing one, and a backslash before
    /// another character. Then all backslashes are literal, and a pair of them, as at the beginning of
    /// `\\server\share`, counts as two.
    private mutating func quoted() -> [UInt8] {
        position += 1
        let start = position
        let backslash = UInt8(ascii: "\\")
        var value: [UInt8] = []
        // The value for the case that pairs of backslashes are literal.
        var path: [UInt8] = []
        var isPath = false
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            let isEscape =
                bytes[position] == backslash && position + 1 < bytes.count
                && (bytes[position + 1] == UInt8(ascii: "\"") || bytes[position + 1] == backslash)
            if bytes[position] == backslash, !isEscape { isPath = true }
            if isEscape { position += 1 }
            if isEscape, bytes[position] == UInt8(ascii: "\""), isParameterOrEnd(at: position + 1) {
                (value, path) = (Array(bytes[start..<position]), Array(bytes[start..<position]))
                break
            }
            if isEscape, bytes[position] == backslash { path.append(backslash) }
            value.append(bytes[position])
            path.append(bytes[position])
            position += 1
        }
        while position < bytes.count, bytes[position] != UInt8(ascii: ";") { position += 1 }
        return isPath ? path : value
    }

    /// Whether the rest can follow a value: nothing, or a semicolon and a parameter with a quoted value or a token.
    private func isParameterOrEnd(at start: Int) -> Bool {
        var place = start
        func skip(while isSkipped: (UInt8) -> Bool) -> Int {
            let start = place
            while place < bytes.count, isSkipped(bytes[place]) { place += 1 }
            return place - start
        }
        _ = skip(while: ASCII.isBlank)
        if place == bytes.count { return true }
        guard skip(while: { $0 == UInt8(ascii: ";") }) == 1 else { return false }
        _ = skip(while: ASCII.isBlank)
        if place == bytes.count { return true }
        guard skip(while: ASCII.isToken) > 0, skip(while: { $0 == UInt8(ascii: "=") }) == 1 else { return false }
        if place < bytes.count, bytes[place] == UInt8(ascii: "\"") { return true }
        _ = skip(while: ASCII.isToken)
        _ = skip(while: ASCII.isBlank)
        return place == bytes.count || bytes[place] == UInt8(ascii: ";")
    }

    private mutating func skipSpace() {
        while position < bytes.count, ASCII.isBlank(bytes[position]) { position += 1 }
    }

    private func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = slice
        while let last = slice.last, ASCII.isBlank(last) { slice.removeLast() }
        return slice
    }
}
