/// Every state × every event at 100 s: the state after it (`?`: the lines have not confirmed), the lines told (line 0 last,
/// `-`: none), the verdict, the runs that are queued then, and what runs did: `+1` opened, `1:stopped` ended.
let irrigationTable = """
  fresh
    now            watering?     100  ok                0
    nowOther       watering?     100  ok                0
    append         watering?     100  ok                0
    insert         watering?     100  ok                0
    replace        watering?     100  ok                0
    program        watering?     100  ok                0
    extend         idle?         -    zoneNotRunning    0
    off            idle?         -    ok                0
    offQueued      idle?         -    ok                0
    cancel         idle?         -    noSuchRun         0
    allOff         idle?         0    ok                0
    skip           idle?         -    nothingToSkip     0
    clearQueue     idle?         -    ok                0
    pause          paused:160?   -    ok                0
    resume         idle?         -    notPaused         0
    rain           idle?         -    ok                0
    rainEnds       idle?         -    ok                0
    rainOver       idle?         -    ok                0
    dayBegan       idle?         -    ok                0
    ranToday       idle?         -    ok                0
    same           idle?         -    ok                0
    disabled       idle?         -    ok                0
    gone           idle?         -    ok                0
    emergencyStop  stopped?      0    ok                0
    reset          idle?         -    nothingToReset    0
    stale          idle?         -    stale             0
    tick           idle?         0    ok                0
    linesConfirmed idle          -    ok                0
    linesDiffer    idle?         -    ok                0
    linesFailed    fault:lines?  -    ok                0
    flow           idle?         -    ok                0
    missed         fault:missed? 0    ok                0
    shutdown       down?         0    ok                0
  idle
    now            watering?     100  ok                0
    nowOther       watering?     100  ok                0
    append         watering?     100  ok                0
    insert         watering?     100  ok                0
    replace        watering?     100  ok                0
    program        watering?     100  ok                0
    extend         idle          -    zoneNotRunning    0
    off            idle          -    ok                0
    offQueued      idle          -    ok                0
    cancel         idle          -    noSuchRun         0
    allOff         idle          0    ok                0
    skip           idle          -    nothingToSkip     0
    clearQueue     idle          -    ok                0
    pause          paused:160    -    ok                0
    resume         idle          -    notPaused         0
    rain           idle          -    ok                0
    rainEnds       idle          -    ok                0
    rainOver       idle          -    ok                0
    dayBegan       idle          -    ok                0
    ranToday       idle          -    ok                0
    same           idle          -    ok                0
    disabled       idle          -    ok                0
    gone           idle          -    ok                0
    emergencyStop  stopped       0    ok                0
    reset          idle          -    nothingToReset    0
    stale          idle          -    stale             0
    tick           idle          -    ok                0
    linesConfirmed idle          -    ok                0
    linesDiffer    idle?         -    ok                0
    linesFailed    fault:lines?  -    ok                0
    flow           idle          -    ok                0
    missed         fault:missed  0    ok                0
    shutdown       down          0    ok                0
  soaking
    now            watering?     100  ok                1
    nowOther       watering?     100  ok                1
    append         watering?     100  ok                1
    insert         watering?     100  ok                1
    replace        watering?     100  ok                0 1:replaced
    program        watering?     100  ok                1
    extend         idle          -    zoneNotRunning    1
    off            idle          -    ok                1
    offQueued      idle          -    ok                0 1:stopped
    cancel         idle          -    ok                0 1:stopped
    allOff         idle          0    ok                0 1:stopped
    skip           idle          -    nothingToSkip     1
    clearQueue     idle          -    ok                0 1:stopped
    pause          paused:160    -    ok                1
    resume         idle          -    notPaused         1
    rain           idle          -    ok                0 1:rainDelay
    rainEnds       idle          -    ok                0 1:rainDelay
    rainOver       idle          -    ok                1
    dayBegan       idle          -    ok                1
    ranToday       idle          -    ok                1
    same           idle          -    ok                1
    disabled       idle          -    ok                0 1:disabled
    gone           idle          -    ok                0 1:disabled
    emergencyStop  stopped       0    ok                0 1:emergencyStop
    reset          idle          -    nothingToReset    1
    stale          idle          -    stale             1
    tick           idle          -    ok                1
    linesConfirmed idle          -    ok                1
    linesDiffer    idle?         -    ok                1
    linesFailed    fault:lines?  -    ok                0 1:fault
    flow           idle          -    ok                1
    missed         fault:missed  0    ok                0 1:fault
    shutdown       down          0    ok                0 1:shutdown
  leading
    now            watering      -    ok                0 1:replaced
    nowOther       watering      -    ok                0 1:replaced
    append         watering      -    ok                1
    insert         watering      -    ok                1
    replace        watering      -    ok                0 1:replaced
    program        watering      -    ok                1
    extend         watering      -    ok                0 1:90s
    off            idle?         0    ok                0 1:stopped
    offQueued      idle?         0    ok                0 1:stopped
    cancel         idle?         0    ok                0 1:stopped
    allOff         idle?         0    ok                0 1:stopped
    skip           idle?         0    ok                0 1:stopped
    clearQueue     watering      -    ok                0
    pause          paused:160?   0    ok                1
    resume         watering      -    notPaused         0
    rain           idle?         0    ok                0 1:rainDelay
    rainEnds       idle?         0    ok                0 1:rainDelay
    rainOver       watering      -    ok                0
    dayBegan       watering      -    ok                0
    ranToday       watering      -    ok                0
    same           watering      -    ok                0
    disabled       idle?         0    ok                0 1:disabled
    gone           idle?         0    ok                0 1:disabled
    emergencyStop  stopped?      0    ok                0 1:emergencyStop
    reset          watering      -    nothingToReset    0
    stale          watering      -    stale             0
    tick           watering      -    ok                0
    linesConfirmed watering      -    ok                0
    linesDiffer    watering?     -    ok                0
    linesFailed    fault:lines?  0    ok                0 1:fault
    flow           watering      -    ok                0
    missed         fault:missed? 0    ok                0 1:fault
    shutdown       down?         0    ok                0 1:shutdown
  open
    now            watering      -    ok                1 1:replaced,+50
    nowOther       watering?     110  ok                1 1:replaced,+50
    append         watering      -    ok                2
    insert         watering      -    ok                2
    replace        watering?     110  ok                0 1:replaced,2:replaced,+50
    program        watering      -    ok                2
    extend         watering      -    ok                1 1:90s
    off            watering?     110  ok                0 1:stopped,+2
    offQueued      watering?     110  ok                0 1:stopped,+2
    cancel         watering?     110  ok                0 1:stopped,+2
    allOff         idle?         0    ok                0 1:stopped,2:stopped
    skip           watering?     110  ok                0 1:stopped,+2
    clearQueue     watering      -    ok                0 2:stopped
    pause          paused:160?   0    ok                2
    resume         watering      -    notPaused         1
    rain           watering      -    ok                0 2:rainDelay
    rainEnds       watering?     100  ok                0 1:rainDelay,2:rainDelay
    rainOver       watering      -    ok                1
    dayBegan       watering      -    ok                1
    ranToday       watering      -    ok                1
    same           watering      -    ok                1
    disabled       watering?     110  ok                0 1:disabled,+2
    gone           watering?     110  ok                0 1:disabled,+2
    emergencyStop  stopped?      0    ok                0 1:emergencyStop,2:emergencyStop
    reset          watering      -    nothingToReset    1
    stale          watering      -    stale             1
    tick           watering      -    ok                1
    linesConfirmed watering      -    ok                1
    linesDiffer    watering?     -    ok                1
    linesFailed    fault:lines?  0    ok                0 1:fault,2:fault
    flow           watering      -    ok                1
    missed         fault:missed? 0    ok                0 1:fault,2:fault
    shutdown       down?         0    ok                0 1:shutdown,2:shutdown
  lagging
    now            watering?     101  ok                0 +50
    nowOther       watering?     110  ok                0 +50
    append         watering?     101  ok                0 +50
    insert         watering?     101  ok                0 +50
    replace        watering?     110  ok                0 +50
    program        watering?     101  ok                0 +50
    extend         watering      -    zoneNotRunning    0
    off            watering      -    ok                0
    offQueued      watering      -    ok                0
    cancel         watering      -    noSuchRun         0
    allOff         idle?         0    ok                0
    skip           watering      -    nothingToSkip     0
    clearQueue     watering      -    ok                0
    pause          paused:160?   0    ok                0
    resume         watering      -    notPaused         0
    rain           watering      -    ok                0
    rainEnds       watering      -    ok                0
    rainOver       watering      -    ok                0
    dayBegan       watering      -    ok                0
    ranToday       watering      -    ok                0
    same           watering      -    ok                0
    disabled       watering      -    ok                0
    gone           watering      -    ok                0
    emergencyStop  stopped?      0    ok                0
    reset          watering      -    nothingToReset    0
    stale          watering      -    stale             0
    tick           watering      -    ok                0
    linesConfirmed watering      -    ok                0
    linesDiffer    watering?     -    ok                0
    linesFailed    fault:lines?  0    ok                0
    flow           watering      -    ok                0
    missed         fault:missed? 0    ok                0
    shutdown       down?         0    ok                0
  paused
    now            paused:690    -    paused            1
    nowOther       paused:690    -    paused            1
    append         paused:690    -    ok                2
    insert         paused:690    -    ok                2
    replace        paused:690    -    ok                1 1:replaced
    program        paused:690    -    ok                2
    extend         paused:690    -    ok                1 1:90s
    off            paused:690    -    ok                0 1:stopped
    offQueued      paused:690    -    ok                0 1:stopped
    cancel         paused:690    -    ok                0 1:stopped
    allOff         paused:690    0    ok                0 1:stopped
    skip           paused:690    -    ok                0 1:stopped
    clearQueue     paused:690    -    ok                1
    pause          paused:160    -    ok                1
    resume         watering?     100  ok                0
    rain           paused:690    -    ok                1
    rainEnds       paused:690    -    ok                0 1:rainDelay
    rainOver       paused:690    -    ok                1
    dayBegan       paused:690    -    ok                1
    ranToday       paused:690    -    ok                1
    same           paused:690    -    ok                1
    disabled       paused:690    -    ok                0 1:disabled
    gone           paused:690    -    ok                0 1:disabled
    emergencyStop  stopped       0    ok                0 1:emergencyStop
    reset          paused:690    -    nothingToReset    1
    stale          paused:690    -    stale             1
    tick           paused:690    -    ok                1
    linesConfirmed paused:690    -    ok                1
    linesDiffer    paused:690?   -    ok                1
    linesFailed    fault:lines?  -    ok                0 1:fault
    flow           paused:690    -    ok                1
    missed         fault:missed  0    ok                0 1:fault
    shutdown       down          0    ok                0 1:shutdown
  fault
    now            fault:missed? -    inFault           0
    nowOther       fault:missed? -    inFault           0
    append         fault:missed? -    inFault           0
    insert         fault:missed? -    inFault           0
    replace        fault:missed? -    inFault           0
    program        fault:missed? -    inFault           0
    extend         fault:missed? -    inFault           0
    off            fault:missed? -    ok                0
    offQueued      fault:missed? -    ok                0
    cancel         fault:missed? -    noSuchRun         0
    allOff         fault:missed? 0    ok                0
    skip           fault:missed? -    nothingToSkip     0
    clearQueue     fault:missed? -    ok                0
    pause          fault:missed? -    inFault           0
    resume         fault:missed? -    notPaused         0
    rain           fault:missed? -    ok                0
    rainEnds       fault:missed? -    ok                0
    rainOver       fault:missed? -    ok                0
    dayBegan       fault:missed? -    ok                0
    ranToday       fault:missed? -    ok                0
    same           fault:missed? -    ok                0
    disabled       fault:missed? -    ok                0
    gone           fault:missed? -    ok                0
    emergencyStop  stopped?      0    ok                0
    reset          fault:missed? -    offNotConfirmed   0
    stale          fault:missed? -    stale             0
    tick           fault:missed? 0    ok                0
    linesConfirmed fault:missed  -    ok                0
    linesDiffer    fault:missed? -    ok                0
    linesFailed    fault:missed? -    ok                0
    flow           fault:missed? -    ok                0
    missed         fault:missed? 0    ok                0
    shutdown       down?         0    ok                0
  faultDone
    now            fault:missed  -    inFault           0
    nowOther       fault:missed  -    inFault           0
    append         fault:missed  -    inFault           0
    insert         fault:missed  -    inFault           0
    replace        fault:missed  -    inFault           0
    program        fault:missed  -    inFault           0
    extend         fault:missed  -    inFault           0
    off            fault:missed  -    ok                0
    offQueued      fault:missed  -    ok                0
    cancel         fault:missed  -    noSuchRun         0
    allOff         fault:missed  0    ok                0
    skip           fault:missed  -    nothingToSkip     0
    clearQueue     fault:missed  -    ok                0
    pause          fault:missed  -    inFault           0
    resume         fault:missed  -    notPaused         0
    rain           fault:missed  -    ok                0
    rainEnds       fault:missed  -    ok                0
    rainOver       fault:missed  -    ok                0
    dayBegan       fault:missed  -    ok                0
    ranToday       fault:missed  -    ok                0
    same           fault:missed  -    ok                0
    disabled       fault:missed  -    ok                0
    gone           fault:missed  -    ok                0
    emergencyStop  stopped       0    ok                0
    reset          idle          -    ok                0
    stale          fault:missed  -    stale             0
    tick           fault:missed  -    ok                0
    linesConfirmed fault:missed  -    ok                0
    linesDiffer    fault:missed? -    ok                0
    linesFailed    fault:missed? -    ok                0
    flow           fault:missed  -    ok                0
    missed         fault:missed  0    ok                0
    shutdown       down          0    ok                0
  stopped
    now            stopped?      -    emergencyStopped  0
    nowOther       stopped?      -    emergencyStopped  0
    append         stopped?      -    emergencyStopped  0
    insert         stopped?      -    emergencyStopped  0
    replace        stopped?      -    emergencyStopped  0
    program        stopped?      -    emergencyStopped  0
    extend         stopped?      -    emergencyStopped  0
    off            stopped?      -    ok                0
    offQueued      stopped?      -    ok                0
    cancel         stopped?      -    noSuchRun         0
    allOff         stopped?      0    ok                0
    skip           stopped?      -    nothingToSkip     0
    clearQueue     stopped?      -    ok                0
    pause          stopped?      -    emergencyStopped  0
    resume         stopped?      -    notPaused         0
    rain           stopped?      -    ok                0
    rainEnds       stopped?      -    ok                0
    rainOver       stopped?      -    ok                0
    dayBegan       stopped?      -    ok                0
    ranToday       stopped?      -    ok                0
    same           stopped?      -    ok                0
    disabled       stopped?      -    ok                0
    gone           stopped?      -    ok                0
    emergencyStop  stopped?      0    ok                0
    reset          stopped?      -    offNotConfirmed   0
    stale          stopped?      -    stale             0
    tick           stopped?      0    ok                0
    linesConfirmed stopped       -    ok                0
    linesDiffer    stopped?      -    ok                0
    linesFailed    stopped?      -    ok                0
    flow           stopped?      -    ok                0
    missed         stopped?      0    ok                0
    shutdown       down?         0    ok                0
  stoppedDone
    now            stopped       -    emergencyStopped  0
    nowOther       stopped       -    emergencyStopped  0
    append         stopped       -    emergencyStopped  0
    insert         stopped       -    emergencyStopped  0
    replace        stopped       -    emergencyStopped  0
    program        stopped       -    emergencyStopped  0
    extend         stopped       -    emergencyStopped  0
    off            stopped       -    ok                0
    offQueued      stopped       -    ok                0
    cancel         stopped       -    noSuchRun         0
    allOff         stopped       0    ok                0
    skip           stopped       -    nothingToSkip     0
    clearQueue     stopped       -    ok                0
    pause          stopped       -    emergencyStopped  0
    resume         stopped       -    notPaused         0
    rain           stopped       -    ok                0
    rainEnds       stopped       -    ok                0
    rainOver       stopped       -    ok                0
    dayBegan       stopped       -    ok                0
    ranToday       stopped       -    ok                0
    same           stopped       -    ok                0
    disabled       stopped       -    ok                0
    gone           stopped       -    ok                0
    emergencyStop  stopped       0    ok                0
    reset          idle          -    ok                0
    stale          stopped       -    stale             0
    tick           stopped       -    ok                0
    linesConfirmed stopped       -    ok                0
    linesDiffer    stopped?      -    ok                0
    linesFailed    stopped?      -    ok                0
    flow           stopped       -    ok                0
    missed         stopped       0    ok                0
    shutdown       down          0    ok                0
  down
    now            down?         -    shutDown          0
    nowOther       down?         -    shutDown          0
    append         down?         -    shutDown          0
    insert         down?         -    shutDown          0
    replace        down?         -    shutDown          0
    program        down?         -    shutDown          0
    extend         down?         -    shutDown          0
    off            down?         -    ok                0
    offQueued      down?         -    ok                0
    cancel         down?         -    noSuchRun         0
    allOff         down?         0    ok                0
    skip           down?         -    nothingToSkip     0
    clearQueue     down?         -    ok                0
    pause          down?         -    shutDown          0
    resume         down?         -    notPaused         0
    rain           down?         -    ok                0
    rainEnds       down?         -    ok                0
    rainOver       down?         -    ok                0
    dayBegan       down?         -    ok                0
    ranToday       down?         -    ok                0
    same           down?         -    shutDown          0
    disabled       down?         -    shutDown          0
    gone           down?         -    shutDown          0
    emergencyStop  down?         0    shutDown          0
    reset          down?         -    shutDown          0
    stale          down?         -    stale             0
    tick           down?         0    ok                0
    linesConfirmed down          -    ok                0
    linesDiffer    down?         -    ok                0
    linesFailed    down?         -    ok                0
    flow           down?         -    ok                0
    missed         down?         0    ok                0
    shutdown       down?         0    ok                0
  downDone
    now            down          -    shutDown          0
    nowOther       down          -    shutDown          0
    append         down          -    shutDown          0
    insert         down          -    shutDown          0
    replace        down          -    shutDown          0
    program        down          -    shutDown          0
    extend         down          -    shutDown          0
    off            down          -    ok                0
    offQueued      down          -    ok                0
    cancel         down          -    noSuchRun         0
    allOff         down          0    ok                0
    skip           down          -    nothingToSkip     0
    clearQueue     down          -    ok                0
    pause          down          -    shutDown          0
    resume         down          -    notPaused         0
    rain           down          -    ok                0
    rainEnds       down          -    ok                0
    rainOver       down          -    ok                0
    dayBegan       down          -    ok                0
    ranToday       down          -    ok                0
    same           down          -    shutDown          0
    disabled       down          -    shutDown          0
    gone           down          -    shutDown          0
    emergencyStop  down          0    shutDown          0
    reset          down          -    shutDown          0
    stale          down          -    stale             0
    tick           down          -    ok                0
    linesConfirmed down          -    ok                0
    linesDiffer    down?         -    ok                0
    linesFailed    down?         -    ok                0
    flow           down          -    ok                0
    missed         down          0    ok                0
    shutdown       down          0    ok                0
  """
