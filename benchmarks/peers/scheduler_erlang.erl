%% SPDX-License-Identifier: Apache-2.0
%%
%% The cases of scheduler.cpp with Erlang (erlang-base): erlang:send_after and cancel_timer, called
%% by the process that measures. One scheduler per worker:
%%
%%   erl +S W:W -noshell -pa DIR -run scheduler_erlang main erlang N W
%%
%% Its timers have milliseconds, so there is no lateness to compare; a system is not started and
%% ended within a program.
-module(scheduler_erlang).
-export([main/1]).

main([_Subject, Size, _Threads]) ->
    N = list_to_integer(Size),
    wanted("cancel", fun() -> cancel(N) end),
    wanted("expiry", fun() -> expiry(100000) end),
    halt(0).

wanted(Name, Work) ->
    case os:getenv("BENCH_ONLY") of
        false -> Work();
        Only ->
            case string:find(Only, Name) of
                nomatch -> ok;
                _ -> Work()
            end
    end.

%% {CPU, wall} in nanoseconds. The CPU time is that of all threads, in steps of a millisecond.
spent(Work) ->
    {Cpu, _} = statistics(runtime),
    Wall = erlang:monotonic_time(nanosecond),
    Result = Work(),
    {CpuAfter, _} = statistics(runtime),
    {(CpuAfter - Cpu) * 1.0e6, (erlang:monotonic_time(nanosecond) - Wall) * 1.0, Result}.

report(Id, Name, N, Cpu, Wall) ->
    io:format("{\"id\": \"~s\", \"case\": \"~s\", \"n\": ~b, \"unit\": \"ns\", "
              "\"value\": ~.4f, \"wall\": ~.4f}~n", [Id, Name, N, Cpu / N, Wall / N]).

%% ---- schedule and cancel

far_delays(N) -> [60000 + rand:uniform(3540000) || _ <- lists:seq(1, N)].
shuffled(List) -> [X || {_, X} <- lists:sort([{rand:uniform(), X} || X <- List])].

cancel_all([]) -> ok;
cancel_all([Ref | Rest]) -> true = is_integer(erlang:cancel_timer(Ref)), cancel_all(Rest).

each([], _) -> ok;
each([Delay | Rest], To) ->
    true = is_integer(erlang:cancel_timer(erlang:send_after(Delay, To, 1))),
    each(Rest, To).

cancel(N) ->
    To = spawn(fun() -> receive _ -> exit(cancelled_but_came) end end),
    Delays = far_delays(N),
    Once = fun(Order) ->
        {CpuIn, WallIn, Refs} =
            spent(fun() -> [erlang:send_after(D, To, 1) || D <- Delays] end),
        Ordered = Order(Refs),
        {CpuOut, WallOut, _} = spent(fun() -> cancel_all(Ordered) end),
        {CpuIn + CpuOut, WallIn + WallOut}
    end,
    measure_pairs("schedule, cancel in random order", N, fun() -> Once(fun shuffled/1) end),
    measure_pairs("schedule, cancel in order", N, fun() -> Once(fun(Refs) -> Refs end) end),
    measure_pairs("schedule, cancel at once", N, fun() ->
        {Cpu, Wall, _} = spent(fun() -> each(Delays, To) end),
        {Cpu, Wall}
    end),
    exit(To, kill).

measure_pairs(Name, N, Once) ->
    Once(),
    {Cpu, Wall} = Once(),
    report("PF-8", Name, N, Cpu, Wall).

%% ---- expiry

counting(Main, 0) -> Main ! done;
counting(Main, Left) -> receive _ -> counting(Main, Left - 1) end.

expiry(Count) ->
    Main = self(),
    To = spawn(fun() -> counting(Main, Count) end),
    Start = erlang:monotonic_time(millisecond) + 700,
    [erlang:send_after(Start + rand:uniform(1000), To, 1, [{abs, true}])
     || _ <- lists:seq(1, Count)],
    true = erlang:monotonic_time(millisecond) < Start,
    {Cpu, Wall, _} = spent(fun() -> receive done -> ok end end),
    report("PF-9", "timers expire over 1 s", Count, Cpu, Wall).
