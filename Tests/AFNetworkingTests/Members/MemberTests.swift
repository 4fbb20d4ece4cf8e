import Foundation
import Testing

/// The table of AFNetworking's members in Docs/MigratingFromAFNetworking.md, which the rows of `Header` compile.
@MainActor
@Suite(.timeLimit(.minutes(1)))
struct MemberTests {
    private static let document = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../Docs/MigratingFromAFNetworking.md").standardizedFileURL

    /// The lines of the document.
    private func lines() throws -> [String] {
        try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func row(_ header: Header) -> String {
        "| `\(header.name).h` | \(header.members.count) | \(header.count(.same)) | \(header.count(.differs)) | "
            + "\(header.count(.leftOut)) |"
    }

    @Test func theDocumentHasTheCountsOfEachHeader() throws {
        let lines = Set(try lines())
        for header in Header.all {
            #expect(lines.contains(Self.row(header)), "the document needs the line \(Self.row(header))")
        }
        let others = Header.all.filter { !$0.isDrawing }
        let (all, out) = (others.reduce(0) { $0 + $1.members.count }, others.reduce(0) { $0 + $1.count(.leftOut) })
        let differs = others.reduce(0) { $0 + $1.count(.differs) }
        let sum = "| outside UIKit's drawing | \(all) | \(all - differs - out) | \(differs) | \(out) |"
        #expect(lines.contains(sum), "the document needs the line \(sum)")
    }

    @Test func nineteenOfTwentyMembersHaveTheSameNameAndLabels() {
        let others = Header.all.filter { !$0.isDrawing }
        let (all, out) = (others.reduce(0) { $0 + $1.members.count }, others.reduce(0) { $0 + $1.count(.leftOut) })
        #expect((all - out) * 100 >= all * 95, "\(all - out) of \(all)")
    }

    @Test func theDocumentGivesTheReasonForEachMemberThatIsLeftOut() throws {
        let reasons = try lines().filter { $0.hasPrefix("| left out") }.joined()
        for header in Header.all {
            for member in header.members where member.kind == .leftOut {
                #expect(
                    reasons.contains("`\(member.name)`"), "\(header.name) \(member.name) is left out without a reason")
            }
        }
    }

    @Test func noMemberIsCountedTwice() {
        for header in Header.all {
            // A name may be that of several classes of a header.
            let names = Dictionary(grouping: header.members.map(\.name), by: { $0 }).filter { $0.value.count > 2 }
            #expect(names.isEmpty, "\(header.name): \(names.keys)")
        }
    }
}
