/// The digits of a JSON number: `digits` times ten to the power of `exponent`, where `digits` has no zeros at its ends.
struct JSONDecimal {
    let isNegative: Bool
    /// The first 19 digits after leading zeros, as a number.
    private(set) var mantissa: UInt64 = 0
    /// How many significant digits there are, without zeros at both ends.
    private(set) var digitCount = 0
    /// The power of ten of the last significant digit.
    private(set) var exponent = 0

    /// Reads the text of a number, which a scanner has checked.
    @inline(__always) init(_ text: UnsafeBufferPointer<UInt8>) {
        var position = 0
        isNegative = text[0] == UInt8(ascii: "-")
        if isNegative { position = 1 }
        var isFraction = false
        // Zeros that count only if another digit follows.
        var zeros = 0
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                readExponent(text, from: position + 1)
                break
            } else {
                if isFraction { exponent &-= 1 }
                if byte != 0x30 {
                    append(zeros: zeros, digit: byte &- 0x30)
                    zeros = 0
                } else if digitCount > 0 {
                    zeros &+= 1
                }
            }
            position &+= 1
        }
        exponent &+= zeros
    }

    var isZero: Bool { digitCount == 0 }

    @inline(__always) private mutating func append(zeros: Int, digit: UInt8) {
        digitCount &+= zeros &+ 1
        guard digitCount <= 19 else { return }
        for _ in 0..<zeros { mantissa &*= 10 }
        mantissa = mantissa &* 10 &+ UInt64(digit)
    }

    private mutating func readExponent(_ text: UnsafeBufferPointer<UInt8>, from start: Int) {
        var position = start
        let isBelowOne = text[position] == UInt8(ascii: "-")
        if isBelowOne || text[position] == UInt8(ascii: "+") { position += 1 }
        var value = 0
        while position < text.count {
            // No number of digits that fits in memory makes up for such an exponent.
            value = min(value * 10 + Int(text[position] - 0x30), 1 << 50)
            position += 1
        }
        exponent += isBelowOne ? -value : value
    }
}

extension JSONDecimal {
    /// The value as an integer; nil if it has a fraction or does not fit.
    func integer<Integer: FixedWidthInteger>(
        _ type: Integer.Type, _ text: UnsafeBufferPointer<UInt8>
    ) -> Integer? {
        if isZero { return 0 }
        // The longest integers have 39 digits.
        guard exponent >= 0, digitCount + exponent <= 39 else { return nil }
        var value: Integer = 0
        var left = digitCount
        for byte in text where byte != UInt8(ascii: "-") && byte != UInt8(ascii: ".") {
            if left == 0 { break }
            if byte == 0x30 && left == digitCount { continue }
            guard let next = Self.appending(byte - 0x30, to: value, isNegative) else { return nil }
            value = next
            left -= 1
        }
        for _ in 0..<exponent {
            guard let next = Self.appending(0, to: value, isNegative) else { return nil }
            value = next
        }
        return value
    }

    @inline(__always) private static func appending<Integer: FixedWidthInteger>(
        _ digit: UInt8, to value: Integer, _ isNegative: Bool
    ) -> Integer? {
        let (product, first) = value.multipliedReportingOverflow(by: 10)
        let digit = Integer(truncatingIfNeeded: digit)
        let (sum, second) =
            isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
        return first || second ? nil : sum
    }

    // The powers of ten that are exact as `Double`.
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The nearest `Double` by one exact operation, where there is one.
    @inline(__always) var exactDouble: Double? {
        if isZero { return isNegative ? -0.0 : 0 }
        guard digitCount <= 19 else { return nil }
        let magnitude: Double
        if mantissa <= 1 << 53, exponent >= -22, exponent <= 22 {
            let power = Self.powers.withUnsafeBufferPointer { $0[abs(exponent)] }
            magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        } else if exponent < 0, exponent >= -19 {
            magnitude = quotient
        } else {
            return nil
        }
        return isNegative ? -magnitude : magnitude
    }

    /// The mantissa divided by a power of ten up to 19, rounded to nearest, ties to even.
    ///
    /// The dividend has its highest bit set and the divisor has at most 64 bits, so the quotient has at least 64: 53
    /// for the result, and the others decide with the remainder how to round.
    private var quotient: Double {
        var power: UInt64 = 1
        for _ in 0..<(-exponent) { power &*= 10 }
        let shift = mantissa.leadingZeroBitCount + 64
        let (quotient, remainder) = (UInt128(mantissa) << UInt128(shift)).quotientAndRemainder(
            dividingBy: UInt128(power))
        let cut = 128 - quotient.leadingZeroBitCount - 53
        var significand = UInt64(truncatingIfNeeded: quotient >> UInt128(cut))
        let rest = quotient & ((1 << UInt128(cut)) - 1)
        let half: UInt128 = 1 << UInt128(cut - 1)
        if rest > half || (rest == half && (remainder != 0 || significand & 1 == 1)) { significand += 1 }
        return Double(sign: .plus, exponent: cut - shift, significand: Double(significand))
    }
}
