import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetCookies

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Files of cookies", .timeLimit(.minutes(1)))
struct CookieFileTests {
    private func names(_ jar: CookieJar) -> [String] { jar.all.map { "\($0.name)=\($0.value)" } }

    private func permissions(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    private func load(_ file: URL, _ clock: TestClock = TestClock()) throws -> CookieJar {
        try CookieJar(contentsOf: file) {
            $0.now = { clock.now }
            $0.publicSuffixes = testSuffixes
        }
    }

    @Test func persistentCookiesOutliveTheProcess() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let clock = TestClock()
            let jar = try load(file, clock)
            #expect(jar.all.isEmpty)
            try jar.receive(
                "a=1; Max-Age=100; Secure; HttpOnly; SameSite=Strict; Domain=site.example; Path=/p", "session=1",
                "b=2; Max-Age=10",
                from: "https://a.site.example/p/")
            try jar.save(to: file)
            #expect(try load(file, clock).all == jar.all.filter(\.isPersistent))
            clock.advance(by: 10)
            #expect(names(try load(file, clock)) == ["a=1"])
            #expect(names(jar) == ["a=1", "session=1"])
        }
    }

    @Test func onlyTheOwnerReadsTheFile() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            // Permissions and contents depend neither on the old file nor on remains of a killed process.
            for name in ["cookies.new", "cookies"] {
                let path = folder.appending(path: name).path
                try Data("{\"version\":1,\"cookies\":[]}".utf8).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
            }
            let jar = makeJar()
            jar.set(try makeCookie("a"))
            try jar.save(to: file)
            for name in ["cookies", "cookies.lock"] {
                #expect(permissions(folder.appending(path: name).path) == 0o600)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                    "cookies", "cookies.lock",
                ])
        }
    }

    // Two jars behave like two processes: they share only the file.
    /// A process that was stopped while it held the lock.
    @Test func theWaitForALockIsLimited() async throws {
        try await withFolder { folder in
            let url = folder.appending(path: "cookies")
            var file = try CookieFile(url, .unwritableFile)
            #expect(file.patience == .seconds(10))
            file.patience = .milliseconds(20)
            try file.locked { () throws(CookieError) in
                let error = #expect(throws: CookieError.self) { try file.locked { () throws(CookieError) in } }
                #expect(error?.code == .unwritableFile)
            }
            try file.locked { () throws(CookieError) in }
        }
    }

    @Test func severalProcessesShareAFile() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let (clock, other) = (TestClock(), TestClock())
            let (first, second) = (try load(file, clock), try load(file, other))
            first.set(try makeCookie("a", "1"))
            second.set(try makeCookie("b", "1", created: testTime.addingTimeInterval(1)))
            try first.save(to: file)
            try second.save(to: file)
            try first.save(to: file)
            #expect(names(first) == ["a=1", "b=1"] && names(second) == ["a=1", "b=1"])

            // A removal is one for all.
            first.remove { $0.name == "a" }
            try first.save(to: file)
            try second.save(to: file)
            #expect(names(second) == ["b=1"])
            #expect(names(try load(file)) == ["b=1"])

            // A change wins over a removal.
            first.remove { $0.name == "b" }
            second.set(try makeCookie("b", "2"))
            try second.save(to: file)
            try first.save(to: file)
            #expect(names(first) == ["b=2"])

            // The more recently used change wins.
            first.set(try makeCookie("b", "first", created: testTime.addingTimeInterval(10)))
            second.set(try makeCookie("b", "second", created: testTime.addingTimeInterval(20)))
            try second.save(to: file)
            try first.save(to: file)
            #expect(names(first) == ["b=second"])
            #expect(first.all.first?.lastAccessDate == testTime.addingTimeInterval(20))

            // The use of a cookie by another process counts.
            other.advance(by: 500)
            _ = try second.string(for: "https://site.example/")
            try second.save(to: file)
            try first.save(to: file)
            #expect(first.all.first?.lastAccessDate == testTime.addingTimeInterval(500))
        }
    }

    @Test func cookiesOfOtherProcessesAreReportedAsChanges() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let (first, second) = (try load(file), try load(file))
            first.set(try makeCookie("a"))
            try first.save(to: file)
            let changes = second.changes
            try second.save(to: file)
            first.removeAll()
            try first.save(to: file)
            try second.save(to: file)
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next()?.kind == .stored)
            #expect(await iterator.next()?.kind == .removed)
        }
    }

    @Test func noCookieOfConcurrentWritersIsLost() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        let jar = makeJar()
                        for index in 0..<20 {
                            jar.set(try makeCookie("c\(index)", domain: "host\(writer).example"))
                            try jar.save(to: file)
                        }
                    }
                }
                group.addTask {
                    // A reader sees whole files only.
                    for _ in 0..<100 { _ = try CookieJar(contentsOf: file) { $0.now = { testTime } } }
                }
                try await group.waitForAll()
            }
            #expect(try load(file).all.count == 160)
        }
    }

    @Test func aJarOverTheLimitsIsSavedWithinThem() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            for writer in 0..<3 {
                let jar = makeJar()
                for index in 0..<40 {
                    jar.set(try makeCookie("w\(writer)-\(index)", created: testTime.addingTimeInterval(Double(writer))))
                }
                try jar.save(to: file)
                #expect(jar.all.count == min(50, 40 * (writer + 1)))
                #expect(jar.all.count { $0.name.hasPrefix("w\(writer)") } == 40)
            }
            #expect(try load(file).all.count == 50)
        }
    }

    @Test(arguments: [
        "", "{", "null", "[]", "cookies", "{\"version\":1}", "{\"version\":\"1\",\"cookies\":[]}",
        "{\"version\":1,\"cookies\":[{}]}",
        "{\"version\":1,\"cookies\":[],", String(repeating: "[", count: 100_000), "\0\0\0\0",
    ])
    func aCorruptFileIsSetAside(contents: String) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            for number in 1...2 {
                try Data(contents.utf8).write(to: file)
                let error = #expect(throws: CookieError.self) { _ = try load(file) }
                #expect(error?.code == .corruptFile)
                #expect(error?.setAsidePath == file.path + ".corrupt-\(number)")
                #expect(try Data(contentsOf: URL(filePath: file.path + ".corrupt-\(number)")) == Data(contents.utf8))
                #expect(try load(file).all.isEmpty)
            }
        }
    }

    @Test func aFileOfMoreThan128MiBIsNotRead() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            // A file of holes: it takes no room.
            try Data().write(to: file)
            try #require(truncate(file.path, 128 << 20 + 1) == 0)
            let error = #expect(throws: CookieError.self) { _ = try load(file) }
            #expect(error?.code == .corruptFile)
            #expect(error?.message.contains("is larger than a store of cookies can be") == true)
        }
    }

    @Test func savingOverACorruptFileKeepsBoth() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let jar = try load(file)
            jar.set(try makeCookie("a", "1"))
            try jar.save(to: file)
            try Data("{".utf8).write(to: file)
            let error = #expect(throws: CookieError.self) { try jar.save(to: file) }
            #expect(error?.code == .corruptFile)
            #expect(try Data(contentsOf: URL(filePath: error?.setAsidePath ?? "")) == Data("{".utf8))
            #expect(names(try load(file)) == ["a=1"])
            try jar.save(to: file)
        }
    }

    @Test func aFileOfALaterVersionStaysAsItIs() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let contents = Data("{\"version\":2,\"jar\":{}}".utf8)
            try contents.write(to: file)
            let jar = makeJar()
            #expect(#expect(throws: CookieError.self) { _ = try load(file) }?.code == .unsupportedVersion)
            #expect(#expect(throws: CookieError.self) { try jar.save(to: file) }?.code == .unsupportedVersion)
            #expect(try Data(contentsOf: file) == contents)
        }
    }

    @Test func aFileThatCannotBeReplacedLeavesNoRemains() async throws {
        try await withFolder { folder in
            // A folder takes the place of the file.
            let url = folder.appending(path: "cookies")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            let file = try CookieFile(url, .unwritableFile)
            let error = #expect(throws: CookieError.self) { try file.replace(with: Data("{}".utf8)) }
            #expect(error?.code == .unwritableFile && error?.errorNumber == EISDIR)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies"])
        }
    }

    #if os(Linux)
    @Test func readingAndWritingLeavesNoFileOpen() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let jar = makeJar()
            jar.set(try makeCookie("a"))
            try jar.save(to: file)
            #expect(try load(file).all.count == 1)
            try Data("{".utf8).write(to: file)
            #expect(throws: CookieError.self) { _ = try load(file) }
            #expect(throws: CookieError.self) { _ = try load(folder) }
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            #expect(!open.isEmpty)
            #expect(open.filter { $0.contains(folder.lastPathComponent) }.isEmpty)
        }
    }
    #endif

    @Test func aDeletedFileIsWrittenAgain() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies")
            let jar = try load(file)
            jar.set(try makeCookie("a", "1"))
            try jar.save(to: file)
            try FileManager.default.removeItem(at: file)
            try jar.save(to: file)
            #expect(names(jar) == ["a=1"])
            #expect(names(try load(file)) == ["a=1"])
        }
    }

    @Test func pathsOtherThanFilesAreTypedErrors() async throws {
        try await withFolder { folder in
            let jar = makeJar()
            jar.set(try makeCookie("a"))
            let missing = folder.appending(path: "missing/cookies")
            #expect(#expect(throws: CookieError.self) { try jar.save(to: missing) }?.errorNumber == 2)
            #expect(try load(missing).all.isEmpty)
            #expect(#expect(throws: CookieError.self) { _ = try load(folder) }?.code == .unreadableFile)
            #expect(
                #expect(throws: CookieError.self) { _ = try load(URL(filePath: "/dev/zero")) }?.code == .unreadableFile)
            let web = try url("https://site.example/cookies")
            #expect(#expect(throws: CookieError.self) { _ = try load(web) }?.code == .unreadableFile)
            #expect(#expect(throws: CookieError.self) { try jar.save(to: web) }?.code == .unwritableFile)
        }
    }
}

/// The merge of a jar and a file, for each combination with their base.
@Suite("Merging cookies", .timeLimit(.minutes(1)))
struct CookieMergeTests {
    @Test(
        arguments: [
            // ours, theirs, base: the merged one. A letter is a value, and a number the time of use.
            (nil, nil, nil, nil), ("a1", nil, nil, "a1"), (nil, "a1", nil, "a1"), (nil, nil, "a1", nil),
            ("a1", nil, "a1", nil),
            ("a2", nil, "a1", nil), ("b2", nil, "a1", "b2"), (nil, "a1", "a1", nil), (nil, "a2", "a1", nil),
            (nil, "b2", "a1", "b2"),
            ("a1", "a2", nil, "a2"), ("a2", "a1", nil, "a2"), ("a1", "b2", nil, "b2"), ("b2", "a1", nil, "b2"),
            ("a1", "b2", "a1", "b2"), ("a3", "b2", "a1", "b3"), ("b2", "a1", "a1", "b2"), ("b2", "a3", "a1", "b3"),
            ("b2", "c3", "a1", "c3"), ("c3", "b2", "a1", "c3"), ("b2", "b3", "a1", "b3"),
            // Of two changes with the same time of use, ours stays.
            ("a2", "b2", nil, "a2"), ("b2", "c2", "a1", "b2"),
        ] as [(String?, String?, String?, String?)])
    func threeWays(ours: String?, theirs: String?, base: String?, expected: String?) throws {
        func cookies(_ text: String?) throws -> [StoredCookie] {
            guard let text, let value = text.first, let time = Double(text.dropFirst()) else { return [] }
            return [try makeCookie("n", "\(value)", created: testTime.addingTimeInterval(time))]
        }
        let merged = CookieMerge.merged(
            ours: try cookies(ours), theirs: try cookies(theirs), base: CookieMerge.byKey(try cookies(base)))
        let found = merged.first.map { "\($0.value)\(Int($0.lastAccessDate.timeIntervalSince(testTime)))" }
        #expect(found == expected)
        #expect(merged.count <= 1)
    }
}

/// The adoption of a merge by a table that other threads may have changed meanwhile.
@Suite("Adopting merged cookies", .timeLimit(.minutes(1)))
struct CookieAdoptionTests {
    private func table(_ cookies: StoredCookie...) -> CookieTable {
        var table = CookieTable(suffixes: testSuffixes)
        for cookie in cookies { table.insert(cookie, now: testTime) }
        _ = table.takeChanges()
        return table
    }

    @Test func aCookieThatWasSetMeanwhileStays() throws {
        let (ours, theirs) = (try makeCookie("a", "ours"), try makeCookie("a", "theirs"))
        var table = table(ours)
        table.adopt([theirs], instead: [], now: testTime)
        #expect(table.cookie(ours.key)?.value == "ours")
        table.adopt([theirs], instead: [try makeCookie("a", "earlier")], now: testTime)
        #expect(table.cookie(ours.key)?.value == "ours")
        #expect(table.takeChanges().isEmpty)
    }

    @Test func aCookieThatWasRemovedMeanwhileStaysRemoved() throws {
        let cookie = try makeCookie("a")
        var table = table()
        table.adopt([cookie], instead: [cookie], now: testTime)
        #expect(table.count == 0)
        table.adopt([], instead: [cookie], now: testTime)
        #expect(table.takeChanges().isEmpty)
    }

    @Test func onlyOtherContentIsAChange() throws {
        let (ours, theirs) = (try makeCookie("a", "ours"), try makeCookie("a", "theirs"))
        var used = ours
        used.lastAccessDate = testTime.addingTimeInterval(5)
        var table = table(ours)
        table.adopt([used], instead: [ours], now: testTime)
        #expect(table.cookie(ours.key) == used)
        #expect(table.takeChanges().isEmpty)
        table.adopt([theirs], instead: [used], now: testTime)
        #expect(table.cookie(ours.key)?.value == "theirs")
        #expect(table.cookie(ours.key)?.lastAccessDate == used.lastAccessDate)
        #expect(table.takeChanges().map(\.kind) == [.replaced])
    }
}
