import BenchSupport
import Linnet
import NIOPosix

/// The event loops of the connections, and the executors of the tasks that use them.
struct Loops {
    /// `onloop` runs the tasks on the event loops; `loops=N` is the number of event loops.
    private let isOnLoop: Bool
    private let group: MultiThreadedEventLoopGroup?

    init(_ arguments: Arguments) {
        isOnLoop = arguments.options["onloop"] != nil
        group = arguments.options["loops"].flatMap { Int($0) }.map { MultiThreadedEventLoopGroup(numberOfThreads: $0) }
    }

    var eventLoops: TransportConfiguration.EventLoops { group.map { .group($0) } ?? .shared }

    func executors(_ http: HTTPSession) -> [any TaskExecutor] { isOnLoop ? http.taskExecutors : [] }
}
