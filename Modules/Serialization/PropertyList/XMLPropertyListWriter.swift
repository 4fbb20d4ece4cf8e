import FoundationEssentials

/// Writes the XML format as Apple's writers do, except for characters that XML cannot represent (XML 1.0, sections
/// 2.2 and 2.11).
struct XMLPropertyListWriter {
    private(set) var bytes = Array(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """.utf8)

    mutating func write(top value: PropertyListValue) throws(SerializationError) {
        try write(value, depth: 0)
        append("</plist>\n")
    }

    private mutating func write(_ value: PropertyListValue, depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        indent(depth)
        switch value {
        case .bool(let value): append(value ? "<true/>\n" : "<false/>\n")
        case .integer(let value): append("<integer>\(value)</integer>\n")
        case .unsigned(let value): append("<integer>\(value)</integer>\n")
        case .real(let value): append("<real>\(Self.text(of: value))</real>\n")
        case .string(let value): try write(value, as: "string")
        case .date(let value):
            guard let text = PropertyListDate(value).text else {
                throw Self.failure("a year with more than nine digits")
            }
            append("<date>\(text)</date>\n")
        case .data(let value):
            append("<data>\n")
            let lines = value.base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
            if !lines.isEmpty { append(lines + "\n") }
            indent(depth)
            append("</data>\n")
        case .array(let values):
            guard !values.isEmpty else { return append("<array/>\n") }
            append("<array>\n")
            for value in values { try write(value, depth: depth + 1) }
            indent(depth)
            append("</array>\n")
        case .dictionary(let values):
            guard !values.isEmpty else { return append("<dict/>\n") }
            append("<dict>\n")
            for (key, value) in values.sortedByKey {
                indent(depth + 1)
                try write(key, as: "key")
                try write(value, depth: depth + 1)
            }
            indent(depth)
            append("</dict>\n")
        }
    }

    private mutating func write(_ text: String, as tag: String) throws(SerializationError) {
        append("<\(tag)>")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": append("&amp;")
            case "<": append("&lt;")
            case ">": append("&gt;")
            // A parser would read a literal CR as LF.
            case "\r": append("&#13;")
            default:
                guard scalar.isXMLCharacter else {
                    throw Self.failure("the character U+\(String(scalar.value, radix: 16, uppercase: true))")
                }
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        append("</\(tag)>\n")
    }

    private static func text(of value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        return value.description
    }

    private static func failure(_ what: String) -> SerializationError {
        SerializationError(
            code: .encodingFailed,
            message: "A property list in XML cannot represent \(what); use the binary format, or data."
        )
    }

    private mutating func indent(_ depth: Int) {
        bytes.append(contentsOf: repeatElement(0x09, count: depth))
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

extension Unicode.Scalar {
    /// Whether XML 1.0 allows the character (section 2.2).
    var isXMLCharacter: Bool {
        switch value {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...: true
        default: false
        }
    }
}

extension [String: PropertyListValue] {
    /// The entries sorted by the bytes of their keys, so that the output is deterministic.
    var sortedByKey: [Element] { NameOrder.sorted(Array(self)) { $0.key } }
}
