/// The spelling of a host in a URL or request. All hosts are parsed here before a policy, a resolver, a connection pool
/// or a certificate check sees them.
///
/// A name does not end in a number (WHATWG URL, 3.5, the "ends in a number checker"): a host that does is an IPv4
/// address in four decimal parts (RFC 3986, 3.2.2) or invalid. `127.1`, `0x7f000001`, `2130706433` and `0177.0.0.1` are
/// rejected, because text comparison treats them as names and `getaddrinfo` as addresses (RFC 6943, 3.1.1).
package enum HostSpelling: Equatable {
    /// A name or an IPv4 address, canonical except for upper case.
    case usual
    /// An address with a different canonical text, without brackets: IPv6 (RFC 5952), an IPv4-mapped address as IPv4,
    /// or an IPv4 address with a trailing dot.
    case address(String)

    /// Parses a host without the brackets that only IPv6 addresses have; nil if it is invalid.
    package init?(_ bytes: UnsafeBufferPointer<UInt8>, isBracketed: Bool) {
        guard let scan = Scan(bytes), isBracketed == (scan.kind == .colons) else { return nil }
        switch scan.kind {
        case .name: self = .usual
        case .number where bytes.isDottedQuad: self = .usual
        case .number, .colons:
            guard let host = HostName(String(decoding: bytes, as: UTF8.self)) else { return nil }
            self = .address(host.text)
        }
    }

    /// A lexical classification of the bytes.
    struct Scan {
        enum Kind {
            /// Labels of letters, digits, hyphens and underscores, each of 1 to 63 bytes (RFC 1123, 2.1).
            case name
            /// A name whose last label is a decimal or hexadecimal number: an IPv4 address, or invalid.
            case number
            /// Contains a colon: an IPv6 address, or invalid.
            case colons
        }

        let kind: Kind
        let hasUppercase: Bool

        /// Fails if the bytes are neither a name nor an address.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            let end = bytes.last == UInt8(ascii: ".") ? bytes.count - 1 : bytes.count
            guard 1...253 ~= end else { return nil }
            var (label, hasUppercase, hasColon) = (0, false, false)
            for index in 0..<end {
                switch bytes[index] {
                case UInt8(ascii: "."):
                    guard 1...63 ~= index - label else { return nil }
                    label = index + 1
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    break
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): hasUppercase = true
                case UInt8(ascii: ":"): hasColon = true
                default: return nil
                }
            }
            guard 1...63 ~= end - label else { return nil }
            self.hasUppercase = hasUppercase
            let isNumber = UnsafeBufferPointer(rebasing: bytes[label..<end]).isNumber
            kind = hasColon ? .colons : isNumber ? .number : .name
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Decimal digits, or `0x` followed by any number of hexadecimal digits.
    fileprivate var isNumber: Bool {
        guard let first, first.isDigit else { return false }
        if count > 1, first == UInt8(ascii: "0"), self[1] | 0x20 == UInt8(ascii: "x") {
            return dropFirst(2).allSatisfy { $0.isDigit || 0x61...0x66 ~= $0 | 0x20 }
        }
        return allSatisfy(\.isDigit)
    }

    /// Four numbers from 0 to 255 without leading zeros, separated by dots.
    fileprivate var isDottedQuad: Bool {
        var (parts, value, digits) = (0, 0, 0)
        for byte in self {
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return false }
                (parts, value, digits) = (parts + 1, 0, 0)
            } else {
                guard byte.isDigit, digits == 0 || value > 0 else { return false }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
                digits += 1
                guard value <= 255 else { return false }
            }
        }
        return parts == 3 && digits > 0
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
}
