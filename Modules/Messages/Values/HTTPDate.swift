internal import FoundationEssentials

/// A moment as HTTP writes it (RFC 9110, section 5.6.7), in any of the three formats; whole seconds since 1970.
package struct HTTPDate: Hashable {
    package let secondsSinceEpoch: Int64

    package static var now: HTTPDate { HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)) }

    package init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    package init?(_ text: String) {
        var text = text
        guard let seconds = text.withUTF8({ Self.seconds($0) }) else { return nil }
        secondsSinceEpoch = seconds
    }

    private static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var words = Words(bytes[...])
        // The day of the week.
        guard words.next() != nil, let second = words.next(), let third = words.next(), let fourth = words.next(),
            let fifth = words.next()
        else { return nil }
        // Of asctime: Sun Nov  6 08:49:37 1994; of the others: Sun, 06 Nov 1994 08:49:37 GMT.
        let zone = words.next()
        let isAsctime = zone == nil
        if let zone {
            guard zone.elementsEqual("GMT".utf8), second.count == 2, words.next() == nil else { return nil }
        }
        let (day, month, time, year) = isAsctime ? (third, second, fourth, fifth) : (second, third, fifth, fourth)
        guard let month = monthNumber(month), let day = number(day, in: 1...31), let year = self.year(year),
            let time = secondOfDay(time)
        else { return nil }
        return days(year: year, month: month, day: day) * 86_400 + time
    }

    package static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// What is between blanks, commas and hyphens.
    private struct Words {
        private var rest: Slice<UnsafeBufferPointer<UInt8>>

        init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
            rest = bytes
        }

        mutating func next() -> Slice<UnsafeBufferPointer<UInt8>>? {
            rest = rest.drop(while: Self.isSeparator)
            let word = rest.prefix { !Self.isSeparator($0) }
            rest = rest[word.endIndex...]
            return word.isEmpty ? nil : word
        }

        private static func isSeparator(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "-")
        }
    }

    private static func monthNumber(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        guard let index = months.firstIndex(where: { $0.utf8.elementsEqual(text) }) else { return nil }
        return Int64(index) + 1
    }

    /// The seconds since midnight of a time such as `08:49:37`.
    private static func secondOfDay(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        let isColon = { (byte: UInt8) in byte == UInt8(ascii: ":") }
        guard let first = text.firstIndex(where: isColon), let last = text.lastIndex(where: isColon), first < last,
            let hour = number(text[..<first], in: 0...23),
            let minute = number(text[(first + 1)..<last], in: 0...59),
            let second = number(text[(last + 1)...], in: 0...60)
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    private static func number(_ text: Slice<UnsafeBufferPointer<UInt8>>, in range: ClosedRange<Int64>) -> Int64? {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard 0x30...0x39 ~= byte else { return nil }
            // Greater than any upper bound, and small enough for another digit.
            number = min(number * 10 + Int64(byte - 0x30), 1_000_000)
        }
        return range.contains(number) ? number : nil
    }

    /// Two digits are of the years from 1970 to 2069.
    private static func year(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        guard let year = number(text, in: 0...9999) else { return nil }
        if text.count == 2 { return year < 70 ? 2000 + year : 1900 + year }
        return text.count == 4 ? year : nil
    }

    /// The days from 1970-01-01 in the Gregorian calendar, counted in years that begin with March.
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
