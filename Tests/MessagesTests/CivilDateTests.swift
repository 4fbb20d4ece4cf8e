import Testing

@testable import LinnetMessages

@Suite(.timeLimit(.minutes(1)))
struct CivilDateTests {
    @Test(
        arguments: [
            (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (2001, 1, 1, 11_323),
            (1, 1, 1, -719_162), (0, 2, 29, -719_469), (-1, 12, 31, -719_529), (9999, 12, 31, 2_932_896),
            (-400, 3, 1, -865_565), (1900, 2, 28, -25_509), (2100, 3, 1, 47_541),
        ] as [(Int64, Int64, Int64, Int64)])
    func aDateHasItsDay(year: Int64, month: Int64, day: Int64, days: Int64) throws {
        let date = try #require(CivilDate(year: year, month: month, day: day))
        #expect(date.daysSinceEpoch == days)
        #expect(CivilDate(daysSinceEpoch: days) == date)
    }

    /// Eight hundred years and a day.
    @Test func eachDayFollowsTheOneBefore() {
        var last = CivilDate(daysSinceEpoch: -300_001)
        for days in Int64(-300_000)...Int64(-300_000 + 2 * 146_097) {
            let date = CivilDate(daysSinceEpoch: days)
            #expect(date.daysSinceEpoch == days)
            let next =
                CivilDate(year: last.year, month: last.month, day: last.day + 1)
                ?? CivilDate(year: last.year, month: last.month + 1, day: 1)
                ?? CivilDate(year: last.year + 1, month: 1, day: 1)
            #expect(date == next)
            last = date
        }
    }

    @Test(
        arguments: [
            (2023, 2, 29), (1900, 2, 29), (2100, 2, 29), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0),
            (2024, 1, 32), (-1, 2, 29),
        ] as [(Int64, Int64, Int64)])
    func aDayThatDoesNotExistIsNoDate(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }
}
