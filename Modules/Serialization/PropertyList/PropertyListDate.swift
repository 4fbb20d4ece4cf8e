import FoundationEssentials
import LinnetMessages

/// A date as XML property lists write it, `2030-01-02T03:04:05Z`: in UTC, whole seconds, and the proleptic Gregorian
/// calendar (ISO 8601, section 4.3.2.1). Foundation's calendar is Julian before 1582.
struct PropertyListDate {
    let date: Date

    init(_ date: Date) { self.date = date }

    /// The year has at least four digits, and a minus sign before the year 0.
    init?(_ text: Substring) {
        var text = text.utf8[...]
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { text.removeFirst() }
        let digits = text.prefix { (0x30...0x39).contains($0) }
        guard (4...9).contains(digits.count), let magnitude = Int64(Substring(digits)) else { return nil }
        var rest = text.dropFirst(digits.count)
        func field(_ mark: Unicode.Scalar, _ range: ClosedRange<Int64>) -> Int64? {
            guard rest.popFirst() == UInt8(ascii: mark), let first = rest.popFirst(), let second = rest.popFirst(),
                (0x30...0x39).contains(first), (0x30...0x39).contains(second)
            else { return nil }
            let value = Int64(first - 0x30) * 10 + Int64(second - 0x30)
            return range.contains(value) ? value : nil
        }
        let year = isNegative ? -magnitude : magnitude
        guard let month = field("-", 1...12), let day = field("-", 1...31),
            let date = CivilDate(year: year, month: month, day: day), let hour = field("T", 0...23),
            let minute = field(":", 0...59), let second = field(":", 0...59),
            rest.elementsEqual("Z".utf8)
        else { return nil }
        let seconds = ((date.daysSinceEpoch * 24 + hour) * 60 + minute) * 60 + second
        self.date = Date(timeIntervalSinceReferenceDate: TimeInterval(seconds - Self.referenceSeconds))
    }

    /// The text; nil if the year has more than nine digits.
    var text: String? {
        let whole = date.timeIntervalSinceReferenceDate.rounded(.down)
        guard abs(whole) < 3e16 else { return nil }
        let seconds = Int64(whole) + Self.referenceSeconds
        let rest = (seconds % 86_400 + 86_400) % 86_400
        let day = CivilDate(daysSinceEpoch: (seconds - rest) / 86_400)
        guard abs(day.year) < 1_000_000_000 else { return nil }
        let sign = day.year < 0 ? "-" : ""
        let date = [Self.padded(abs(day.year), 4), Self.padded(day.month, 2), Self.padded(day.day, 2)]
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map { Self.padded($0, 2) }
        return "\(sign)\(date.joined(separator: "-"))T\(time.joined(separator: ":"))Z"
    }

    /// The seconds from 1970 to 2001, from which Foundation counts.
    private static let referenceSeconds: Int64 = 978_307_200

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
