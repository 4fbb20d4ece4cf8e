import CommandSupport
import Foundation
import Testing

private let linnetTransfers = BuiltProgram("linnet-transfers")

/// How often idle processes wake up.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnetTransfers.exists, "linnet-transfers is not beside the tests"))
struct IdleTests {
    /// The time that is watched; the environment variable `LINNET_BACKGROUND_IDLE_SECONDS` sets another.
    private static let seconds =
        ProcessInfo.processInfo.environment["LINNET_BACKGROUND_IDLE_SECONDS"].flatMap { Int($0) } ?? 2

    /// A program that has nothing to transfer, and an agent that waits for its end. Swift's runtime wakes one thread
    /// once a second, in any program.
    @Test func anIdleProgramAndAWaitingAgentDoNotWakeUp() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-idle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = """
            session=$1; program=$2
            "$program" run --directory "$session" </dev/null & run=$!
            sleep 1
            "$program" agent --directory "$session" </dev/null & agent=$!
            sleep 2
            count() {
                for process in $run $agent; do
                    for thread in /proc/$process/task/*; do
                        echo "$1 ${thread##*/} $(awk '/ctxt_switches/ { sum += $2 } END { print sum }' $thread/status)"
                    done
                done
            }
            count before
            sleep \(Self.seconds)
            count after
            kill -9 $run $agent
            wait
            exit 0
            """
        let session = folder.appending(path: "session").path
        let command = try await Command.run(["sh", "-c", script, "sh", session, linnetTransfers.path])
        try #require(command.status == 0, "\(command.errors)")
        var switches: [Substring: [Int]] = [:]
        for line in command.text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let count = Int(words[2]) else { continue }
            switches[words[1], default: []].append(count)
        }
        let wakes = switches.values.filter { $0.count == 2 }.map { $0[1] - $0[0] }.filter { $0 > 0 }
        print("In \(Self.seconds) s, two idle processes of \(switches.count) threads woke up: \(wakes)")
        #expect(switches.count > 4)
        // One thread of each, about once a second.
        #expect(wakes.count <= 2 && wakes.allSatisfy { $0 <= 2 * (Self.seconds + 1) }, "\(wakes)")
    }
}
