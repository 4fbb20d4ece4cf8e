internal import CObjectLedger
internal import LinnetTransport
internal import NIOPosix

/// Counts the living objects of the classes of Linnet, its tests, and NIO's connections.
///
/// The classes need no hooks: in the test process, `CObjectLedger` wraps the functions of the Swift runtime that
/// allocate and free objects.
enum LivingObjects {
    /// The prefixes of the full names of the classes that are counted.
    ///
    /// `LinnetSecurity` is excluded: it caches certificates, chains and stores for the whole process, with limits of
    /// its own.
    private static let prefixes: [StaticString] = [
        "LinnetTransport.", "LinnetSession.", "LinnetSerialization.", "LinnetMultipart.", "LinnetReachability.",
        "LinnetUIState.", "LinnetAFNetworking.", "LinnetAFNetworkingBackground.", "LinnetBackground.",
        "LinnetBackgroundPostgres.", "LinnetTesting.", "LinnetTestingTraits.",
        "LinnetWebSocket.", "LinnetHAR.",
        "LinnetCookies.", "LinnetCache.",
        "ExampleApp.",
        "ExampleSupport.",
        "TransportTests.", "SessionTests.", "UIStateTests.", "IntegrationTests.", "TestingTests.",
        "TestingTraitsTests.", "ExampleAppTests.",
        "BackgroundTests.", "BackgroundPostgresTests.", "WebSocketTests.", "AFNetworkingTests.", "HARTests.",
        "NIOPosix.", "NIOCore.ChannelPipeline", "NIOCore.ChannelHandlerContext",
    ]

    /// The prefixes of classes with objects that the first test in need creates once, and that live as long as the
    /// process or one of its threads.
    private static let permanent = [
        // The threads for files, and of NIO's own pool. The thread of an event loop is checked through its loop.
        "LinnetTransport.FileExecutor", "NIOPosix.NIOThreadPool", "NIOPosix.NIOThread", "NIOPosix.Box<(body: ",
        // The counter of the threads for name lookups.
        "LinnetTransport.LookupThreads",
        // Runs on NIO's own pool.
        "LinnetTransport.JudgeExecutor",
        // Per event loop thread: the buffer for decrypted bytes, and the dispatch queue of the loop.
        "LinnetTransport.TLSPlaintextPool", "NIOPosix.ThreadSpecificVariable<",
        "NIOPosix.Box<(NIOPosix.ThreadSpecificVariable<",
        // The notifications of the process (`TaskNotifications`).
        "LinnetSession.Broadcaster<LinnetSession.TaskNotification>",
        // The shared manager of session managers, and the watch over the main queue.
        "LinnetAFNetworking.AFNetworkReachabilityManager", "LinnetAFNetworking.MainQueueWatch",
        "LinnetAFNetworking.MainNotifications",
    ]

    /// Starts counting. Process-wide objects of counted classes are created before.
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

    /// The number of the last counted object.
    static func last() -> UInt64 {
        isCounting ? object_ledger_last() : 0
    }

    /// The numbers of living objects that were created after the one with this number, by class name.
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
