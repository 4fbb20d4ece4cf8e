internal import CObjectLedger
internal import LinnetTransport
internal import NIOPosix

/// The living objects of the classes that Linnet, its tests and NIO's connections are made of.
///
/// They are counted without a hook in any of them: in the tests' process `CObjectLedger` stands between the program and the
/// functions of the Swift runtime that make and free an object.
enum LivingObjects {
    /// A class counts if its full name begins with one of these.
    ///
    /// Not `LinnetSecurity`: it remembers certificates, chains and stores for the whole process, in caches with limits of
    /// their own.
    private static let prefixes: [StaticString] = [
        "LinnetTransport.", "LinnetSession.", "LinnetSerialization.", "LinnetMultipart.", "LinnetReachability.",
        "LinnetUIState.", "LinnetTesting.", "ExampleApp.", "ExampleSupport.",
        "TransportTests.", "SessionTests.", "UIStateTests.", "IntegrationTests.", "TestingTests.", "ExampleAppTests.",
        "NIOPosix.", "NIOCore.ChannelPipeline", "NIOCore.ChannelHandlerContext",
    ]

    /// What is made once and lives as long as the process or one of its threads, by the test that happens to need it first.
    ///
    /// Each stands for the classes whose names begin with it.
    private static let permanent = [
        // The threads for files, for look-ups of names, and of NIO's own pool. An event loop's thread is seen by its event loop.
        "LinnetTransport.FileExecutor", "NIOPosix.NIOThreadPool", "NIOPosix.NIOThread", "NIOPosix.Box<(body: ",
        // Runs on NIO's own pool.
        "LinnetTransport.JudgeExecutor",
        // What a thread of an event loop keeps for itself: memory for deciphered bytes, and the queue that stands for it.
        "LinnetTransport.TLSPlaintextPool", "NIOPosix.ThreadSpecificVariable<",
        "NIOPosix.Box<(NIOPosix.ThreadSpecificVariable<",
        // The notifications of the process (`TaskNotifications`).
        "LinnetSession.Broadcaster<LinnetSession.TaskNotification>",
    ]

    /// Begins to count. What is there once for the process, and of a class that matters otherwise, is made before.
    private static let isCounting: Bool = {
        _ = MultiThreadedEventLoopGroup.singleton.next()
        _ = TransportMetrics()
        for prefix in prefixes {
            prefix.utf8Start.withMemoryRebound(to: CChar.self, capacity: prefix.utf8CodeUnitCount) {
                object_ledger_add_prefix($0, prefix.utf8CodeUnitCount)
            }
        }
        object_ledger_begin()
        return true
    }()

    /// The number of the object that was counted last.
    static func last() -> UInt64 {
        isCounting ? object_ledger_last() : 0
    }

    /// How many objects that were made after the one with this number are alive, by the name of their class.
    static func made(after number: UInt64) -> [String: Int] {
        var classes: [String: Int] = [:]
        withUnsafeMutablePointer(to: &classes) { classes in
            object_ledger_visit(number, classes) { context, name, length in
                guard let classes = context?.assumingMemoryBound(to: [String: Int].self), let text = name else {
                    return
                }
                let name = String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
                classes.pointee[name, default: 0] += 1
            }
        }
        return classes.filter { name, _ in !permanent.contains { name.hasPrefix($0) } }
    }
}
