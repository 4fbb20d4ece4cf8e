/// A dNSName of a certificate.
struct CertifiedHost {
    let text: String
    /// Without the wildcard.
    let labels: [Substring]

    init(_ bytes: [UInt8]) {
        text = String(decoding: bytes, as: UTF8.self)
        let rest = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        labels = rest.split(separator: ".", omittingEmptySubsequences: false)
    }

    var isWildcard: Bool { text.hasPrefix("*.") }

    /// Also without what OpenSSL would take for an address.
    var isPreferredSyntax: Bool {
        guard text.utf8.count <= 253, let last = labels.last else { return false }
        guard !last.utf8.allSatisfy({ (48...57).contains($0) }) else { return false }
        return labels.allSatisfy(HostLabel.isPreferredSyntax)
    }
}

/// A label of a host's name.
enum HostLabel {
    /// Letters, digits, and hyphens inside; underscores and wildcards are other rules'.
    static func isPreferredSyntax(_ label: Substring) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.utf8.count), label.utf8.first != hyphen, label.utf8.last != hyphen else {
            return false
        }
        return label.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, hyphen, UInt8(ascii: "_"), UInt8(ascii: "*"): true
            default: false
            }
        }
    }

    /// Two hyphens in the third and fourth places, and no A-label.
    static func isReserved(_ label: Substring) -> Bool {
        guard label.dropFirst(2).hasPrefix("--"), !label.contains("*") else { return false }
        return !(label.lowercased().hasPrefix("xn--") && isPunycode(label.dropFirst(4)))
    }

    /// Whether it can be decoded (RFC 3492, 6.2), and says more than ASCII could.
    private static func isPunycode(_ text: Substring) -> Bool {
        let (base, skew, damp) = (36, 38, 700)
        var (n, i, bias) = (128, 0, 72)
        let basic = text.lastIndex(of: "-")
        var count = basic.map { text.utf8.distance(from: text.startIndex, to: $0) } ?? 0
        var rest = (basic.map { text[text.index(after: $0)...] } ?? text).utf8
        guard !rest.isEmpty else { return false }
        while !rest.isEmpty {
            let start = i
            var weight = 1
            var k = base
            while true {
                guard let digit = rest.popFirst().flatMap(digit) else { return false }
                i += digit * weight
                guard i < 1 << 40 else { return false }
                let threshold = min(max(k - bias, 1), 26)
                if digit < threshold { break }
                weight *= base - threshold
                guard weight < 1 << 40 else { return false }
                k += base
            }
            count += 1
            var delta = start == 0 ? (i - start) / damp : (i - start) / 2
            delta += delta / count
            var steps = 0
            while delta > (base - 1) * 26 / 2 {
                delta /= base - 1
                steps += base
            }
            bias = steps + base * delta / (delta + skew)
            n += i / count
            i %= count
            guard n <= 0x10FFFF, !(0xD800...0xDFFF).contains(n) else { return false }
            i += 1
        }
        return true
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 48...57: Int(byte) - 22
        case 65...90: Int(byte) - 65
        case 97...122: Int(byte) - 97
        default: nil
        }
    }
}
