internal import FoundationEssentials

extension ResponseBody {
    /// As many bytes are read for the sake of the connection alone: 64 KiB.
    static let drainLimit = 64 * 1024
    /// As long it may take.
    private static let drainTime = Duration.seconds(1)

    /// Reads an unused body to its end, so that its connection can be reused. A body that exceeds the size or time limit is
    /// dropped, which closes the connection.
    func drain() async {
        guard whole == nil else { return }
        await withTaskGroup { group in
            group.addTask { await readToEnd() }
            group.addTask { try? await Task.sleep(for: Self.drainTime) }
            await group.next()
            group.cancelAll()
        }
    }

    private func readToEnd() async {
        var rest = Self.drainLimit
        var iterator = makeAsyncIterator()
        while rest >= 0, let chunk = (try? await iterator.next()) ?? nil { rest -= chunk.count }
    }
}
