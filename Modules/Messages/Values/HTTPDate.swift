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

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
        guard words.count == 6 || words.count == 5 else { return nil }
        // Of asctime: Sun Nov  6 08:49:37 1994; of the others: Sun, 06 Nov 1994 08:49:37 GMT.
        let isAsctime = words.count == 5
        let (day, month, time) = isAsctime ? (words[2], words[1], words[3]) : (words[1], words[2], words[4])
        guard isAsctime || words[5].elementsEqual("GMT".utf8) && day.count == 2,
            let month = months.firstIndex(where: { $0.utf8.elementsEqual(month) }),
            let day = number(day, in: 1...31), let year = year(isAsctime ? words[4] : words[3])
        else { return nil }
        let parts = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], in: 0...23), let minute = number(parts[1], in: 0...59),
            let second = number(parts[2], in: 0...60)
        else { return nil }
        let days = days(year: year, month: Int64(month) + 1, day: day)
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    package static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Bytes, in range: ClosedRange<Int64>) -> Int64? {
        guard let number = Digits.parse(text), range.contains(number) else { return nil }
        return number
    }

    /// Two digits are of the years from 1970 to 2069.
    private static func year(_ text: Bytes) -> Int64? {
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
