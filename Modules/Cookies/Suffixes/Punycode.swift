/// The encoding of a label beyond ASCII as an A-label (RFC 3492).
enum Punycode {
    /// Encodes a label that is normalized and in lower case; nil if the result is longer than a label can be.
    static func label(_ text: Substring) -> String? {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return String(text) }
        return encode(text.unicodeScalars.map(\.value)).map { "xn--" + $0 }
    }

    /// Encodes the code points of a label (RFC 3492, section 6.3). The limit of 63 bytes for a label also bounds the
    /// numbers.
    private static func encode(_ scalars: [UInt32]) -> String? {
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handled) = (UInt32(0x80), 0, 72, basic)
        while handled < scalars.count {
            let least = scalars.filter { $0 >= next }.min() ?? next
            delta += Int(least - next) * (handled + 1)
            next = least
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, points: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return output.count <= 59 ? String(decoding: output, as: UTF8.self) : nil
    }

    /// Appends a variable-length integer (section 3.3).
    private static func append(_ number: Int, _ bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (number, 36)
        while true {
            let threshold = min(max(position - bias, 1), 26)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30) }

    /// Adapts the bias (section 3.4).
    private static func adapted(_ delta: Int, points: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / points
        var steps = 0
        while rest > 455 {
            rest /= 35
            steps += 36
        }
        return steps + 36 * rest / (rest + 38)
    }
}
