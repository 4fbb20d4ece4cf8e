package import HTTPTypes

// A field value is a sequence of octets (RFC 9110, section 5.5). `HTTPField.value` replaces octets that are not UTF-8,
// and `String` compares by canonical equivalence, so values of different octets could be equal. Values that are
// compared, sent back or made into URLs are therefore read as ISO 8859-1: one character for each octet, U+0000 to
// U+00FF. Texts of such characters are canonically equivalent only if they are identical.

extension String {
    /// The text with one character for each octet.
    package init(isoLatin1 octets: some Sequence<UInt8>) {
        self.init(String.UnicodeScalarView(octets.lazy.map { Unicode.Scalar($0) }))
    }

    /// The octets of a text with one character for each octet. A text with characters beyond U+00FF does not come from
    /// octets, so its UTF-8 is used.
    package var isoLatin1Octets: [UInt8] {
        guard !isASCII, unicodeScalars.allSatisfy({ $0.value <= 0xFF }) else { return Array(utf8) }
        return unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    /// Whether the text has the same octets in ISO 8859-1 and in UTF-8.
    package var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension HTTPField {
    /// Creates a field from a value in ISO 8859-1.
    package init(name: Name, isoLatin1Value text: String) {
        if text.isASCII {
            self.init(name: name, value: text)
        } else {
            self.init(name: name, value: text.isoLatin1Octets)
        }
    }

    /// The octets of the value as the characters of ISO 8859-1.
    package var isoLatin1Value: String {
        withUnsafeBytesOfValue { octets in
            octets.allSatisfy { $0 < 0x80 } ? nil : String(isoLatin1: octets)
        } ?? value
    }

    /// The value as a URI reference, which is ASCII (RFC 3986, section 2): other octets are percent-encoded.
    package var uriReference: String {
        withUnsafeBytesOfValue { octets -> String? in
            guard !octets.allSatisfy({ $0 < 0x80 }) else { return nil }
            return PercentCoding.encoded(octets) { $0 < 0x80 }
        } ?? value
    }
}

extension HTTPFields {
    /// The octets of all values of a name as the characters of ISO 8859-1, in order.
    package func isoLatin1Values(of name: HTTPField.Name) -> [String] {
        self[fields: name].map(\.isoLatin1Value)
    }

    /// The octets of the value of a name as the characters of ISO 8859-1. Several values are combined into a list; nil
    /// removes them.
    package subscript(isoLatin1 name: HTTPField.Name) -> String? {
        get {
            guard contains(name) else { return nil }
            return isoLatin1Values(of: name).joined(separator: ", ")
        }
        set {
            self[fields: name] = newValue.map { [HTTPField(name: name, isoLatin1Value: $0)] } ?? []
        }
    }
}
